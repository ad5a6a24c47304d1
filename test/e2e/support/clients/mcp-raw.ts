// An MCP client behind the gateway as a script without any library has it: requests, and events as they come.
import { fileURLToPath } from "node:url";
import { NODE, runsFile } from "../system/sandbox-node.ts";
import { api, fresh, type Person } from "../system/system.ts";
import { until, within } from "../system/wait.ts";

export const SCRIPTED = fileURLToPath(new URL("../servers/scripted-mcp-server.mjs", import.meta.url));

export type RpcMessage = {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
};

export type McpEvent = { readonly id: string; readonly message: RpcMessage | undefined };

/** The address of a server that is started by `cmd`. */
export function gatewayPath(
  sandbox: string,
  cmd: string,
  args: readonly string[],
  more: Record<string, string> = {},
): string {
  const query = new URLSearchParams({ cmd, ...more });
  for (const arg of args) query.append("arg", arg);
  return `/mcp/${sandbox}/server?${query}`;
}

/** A stream of events, read as it comes. */
export class EventStream {
  readonly events: McpEvent[] = [];
  readonly status: number;
  readonly headers: Headers;
  /** Resolves once the server has ended it, or it broke. */
  readonly ended: Promise<void>;
  readonly #given: AbortController;

  constructor(response: Response, given: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#given = given;
    this.ended = this.#read(response).catch(() => undefined);
  }

  get messages(): RpcMessage[] {
    return this.events.flatMap(({ message }) => message ?? []);
  }

  /** The id of the last event. */
  get lastId(): string {
    return this.events.at(-1)?.id ?? "";
  }

  /** The first message that is so, once it has come. */
  message(what: string, isIt: (message: RpcMessage) => boolean = () => true): Promise<RpcMessage> {
    return until(what, () => this.messages.find(isIt));
  }

  /** Hangs up. */
  async cut(): Promise<void> {
    this.#given.abort();
    await this.ended;
  }

  async #read({ body }: Response): Promise<void> {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
    const id = field("id");
    if (id === undefined) return; // A comment.
    const data = field("data");
    this.events.push({ id, message: data ? (JSON.parse(data) as RpcMessage) : undefined });
  }
}

/** One MCP session. */
export class RawMcp {
  readonly who: Person;
  readonly sandbox: string;
  readonly path: string;
  sessionId = "";
  #version = "";
  #id = 0;

  constructor(who: Person, sandbox = fresh("box"), path = gatewayPath(sandbox, NODE, runsFile(SCRIPTED))) {
    this.who = who;
    this.sandbox = sandbox;
    this.path = path;
  }

  /** Begun. */
  static async begin(who: Person, more: Record<string, string> = {}, version = "2025-11-25"): Promise<RawMcp> {
    const sandbox = fresh("box");
    const raw = new RawMcp(who, sandbox, gatewayPath(sandbox, NODE, runsFile(SCRIPTED), more));
    await raw.initialize(version);
    return raw;
  }

  get session(): string {
    return `server-${this.sessionId}`;
  }

  async initialize(protocolVersion = "2025-11-25"): Promise<EventStream> {
    this.sessionId = "";
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const stream = await this.request("initialize", params);
    if (stream.status !== 200) throw new Error(`initialize: ${stream.status}`);
    this.sessionId = stream.headers.get("Mcp-Session-Id") ?? "";
    await stream.message("the answer to initialize");
    this.#version = protocolVersion;
    await this.send({ method: "notifications/initialized" });
    return stream;
  }

  /** Sends without waiting for more than the answer's head. */
  async request(method: string, params: object = {}, meta?: object): Promise<EventStream> {
    this.#id += 1;
    const all = meta === undefined ? params : { ...params, _meta: meta };
    return this.stream("POST", {}, { jsonrpc: "2.0", id: this.#id, method, params: all });
  }

  /** A request and the result of its answer. */
  async result(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const stream = await this.request(method, params);
    const { result, error } = await stream.message(`the answer to ${method}`, (one) => one.method === undefined);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    await within("the end of the stream", stream.ended);
    return result;
  }

  /** A notification, or an answer. @returns Its status. */
  async send(message: object): Promise<number> {
    const response = await this.ask("POST", {}, { jsonrpc: "2.0", ...message });
    await response.text();
    return response.status;
  }

  listen(lastEventId?: string): Promise<EventStream> {
    return this.stream("GET", lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId });
  }

  async end(): Promise<number> {
    return (await this.ask("DELETE")).status;
  }

  async stream(method: string, headers: Record<string, string> = {}, body?: object): Promise<EventStream> {
    const given = new AbortController();
    return new EventStream(await this.ask(method, headers, body, given.signal), given);
  }

  ask(method: string, headers: Record<string, string> = {}, body?: unknown, signal?: AbortSignal): Promise<Response> {
    const all = {
      Accept: "application/json, text/event-stream",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(this.sessionId === "" ? {} : { "Mcp-Session-Id": this.sessionId }),
      ...(this.#version === "" ? {} : { "MCP-Protocol-Version": this.#version }),
      ...headers,
    };
    return api(this.who, this.path, {
      method,
      headers: all,
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }
}
