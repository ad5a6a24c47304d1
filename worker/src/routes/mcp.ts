// `/mcp`: the tools over Streamable HTTP (M1), and where their callers may log in (M3). Each call asks the programs' routes, as its
// caller, so that rights, limits and the record are theirs.

import { batchFault, MAX_MESSAGE_BYTES } from "@sbx/mcp/gateway";
import { type ExecutionContext, Hono } from "hono";
import { defined } from "sandbox-stdio/core";
import { readEntrySettings } from "../auth/provider.ts";
import { log } from "../base/log.ts";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { answerFault } from "../guards/faults.ts";
import { caller, innerRequest, METADATA_PATH, refuseWithMetadata } from "../mcp/caller.ts";
import { refused } from "../programs/operations/call.ts";
import { respond } from "../programs/respond.ts";
import { type ProgramsEnv, programRoutes } from "./programs.ts";

export interface McpEnv extends ProgramsEnv {
  /** The one sandbox that the tools of `/mcp` work in. Default: each call names its own. */
  readonly MCP_SANDBOX?: string;
}

export type McpTools = Hono<{ Bindings: McpEnv }>;

const BODY_PATIENCE_MS = 30_000;

export const mcpTools: McpTools = new Hono();
mcpTools.onError(refuseWithMetadata);

const api = new Hono<{ Bindings: McpEnv }>();
api.onError(answerFault);
api.route("/api/sandboxes", programRoutes);

mcpTools.all("/mcp", async (c) => {
  const request = c.req.raw;
  const who = await caller(request, c.env);
  const sandbox = c.env.MCP_SANDBOX || c.req.query("sandbox");
  const ask = async ({ method, path, body }: { method: string; path: string; body?: string }, signal: AbortSignal) => {
    const init = { method, signal, ...defined({ body }) };
    return api.fetch(innerRequest(request, who, path, init), c.env, c.executionCtx as ExecutionContext);
  };
  // A tenth of a Worker's start, which no terminal should wait for.
  const [{ createMcpHandler }, { mcpServer }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@sbx/mcp"),
  ]);
  const handler = createMcpHandler(() => mcpServer({ ask, sandbox }), {
    onerror: (error) => log.info("an MCP request failed:", error),
  });
  const checked = await checkedBatch(request);
  const response = checked instanceof Response ? checked : await handler.fetch(checked);
  if (response.status === 405) response.headers.set("Allow", "POST");
  return response;
});

/** The SDK looks at each message of a batch before it counts them: that takes seconds where they are many. */
async function checkedBatch(request: Request): Promise<Request | Response> {
  if (request.method !== "POST") return request;
  const { kind, text } = await readText(request, MAX_MESSAGE_BYTES, BODY_PATIENCE_MS, REST_BYTES);
  if (kind === "cut") return respond(refused(413, "input_too_long", "a message may have 4 MiB"));
  const fault = batchFault(text);
  if (fault === undefined) return new Request(request, { body: text, signal: request.signal });
  const error = { code: fault.code, message: fault.message };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 400 });
}

/** RFC 9728: a host looks here for the issuer. The second is where it looks by itself, without a refusal that says so. */
for (const path of [METADATA_PATH, `${METADATA_PATH}/mcp`]) {
  mcpTools.get(path, (c) => {
    const { linkBase, authorizationServers } = readEntrySettings(c.env);
    return c.json({
      resource: `${linkBase}/mcp`,
      ...defined({ authorization_servers: authorizationServers.length === 0 ? undefined : authorizationServers }),
      scopes_supported: ["sandbox:connect", "sandbox:exec", "sandbox:admin"],
      bearer_methods_supported: ["header"],
      resource_name: "sbx-stdio",
    });
  });
}
