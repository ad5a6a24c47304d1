// MCP clients of the system: the official one, of either era, over HTTP; and what tools answer.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { type Person, system } from "../system/system.ts";

export type ToolAnswer = {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
};

/** `legacy`: by `initialize`, as all revisions up to 2025-11-25; `auto`: 2026-07-28 where the server has it. */
export type Era = "legacy" | "auto";

const open = new Set<Client>();

export function mcpTransport(who: Person, path: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(path, system.origin), {
    requestInit: { headers: { Authorization: `Bearer ${who.token}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 200,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 60,
    },
  });
}

/** Connected. */
export async function mcpClient(
  who: Person,
  path: string,
  era: Era,
  given = new Client(...clientInfo(era)),
): Promise<Client> {
  await given.connect(mcpTransport(who, path));
  open.add(given);
  return given;
}

export function clientInfo(era: Era): ConstructorParameters<typeof Client> {
  return [{ name: "test", version: "1" }, { versionNegotiation: { mode: era } }];
}

export async function closeClients(): Promise<void> {
  const all = [...open];
  open.clear();
  await Promise.all(all.map((client) => client.close()));
}

export async function callTool(client: Client, name: string, args: Record<string, unknown>): Promise<ToolAnswer> {
  return (await client.callTool({ name, arguments: args })) as ToolAnswer;
}

/** What a tool answered where it did what it was asked; what a program printed is `text`, the first part of its content. */
export async function toolBody(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const { isError, structuredContent, content } = await callTool(client, name, args);
  if (isError === true || structuredContent === undefined) throw new Error(`${name}: ${JSON.stringify(content)}`);
  return { ...structuredContent, text: content[0]?.text };
}

/** What a tool was refused with. */
export function refusalOf({ isError, content }: ToolAnswer): Record<string, unknown> {
  if (isError !== true) throw new Error(`No refusal: ${JSON.stringify(content)}`);
  return JSON.parse(content[0]?.text ?? "{}") as Record<string, unknown>;
}
