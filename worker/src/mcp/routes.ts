// `/mcp`: the tools over Streamable HTTP (M1), and where their callers may log in (M3). Each call asks the programs' routes, as its
// caller, so that rights, limits and the record are theirs.

import { createMcpHandler } from "@modelcontextprotocol/server";
import { mcpServer } from "@sbx/mcp";
import { type ExecutionContext, Hono } from "hono";
import { readEntrySettings } from "../auth/way.ts";
import { answerFault } from "../faults.ts";
import { log } from "../log.ts";
import { type ProgramsEnv, programRoutes } from "../programs/routes.ts";
import { caller, innerRequest, METADATA_PATH, refuseWithMetadata } from "./caller.ts";

export interface McpEnv extends ProgramsEnv {
  /** The one sandbox that the tools of `/mcp` work in; empty: each call names its own. */
  readonly MCP_SANDBOX?: string;
}

export type McpTools = Hono<{ Bindings: McpEnv }>;

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
    const init = { method, signal, ...(body === undefined ? {} : { body }) };
    return api.fetch(innerRequest(request, who, path, init), c.env, c.executionCtx as ExecutionContext);
  };
  const handler = createMcpHandler(() => mcpServer({ ask, sandbox }), {
    onerror: (error) => log.info("an MCP request failed:", error),
  });
  const response = await handler.fetch(request);
  if (response.status === 405) response.headers.set("Allow", "POST");
  return response;
});

/** RFC 9728: a host looks here for the issuer. The second is where it looks by itself, without a refusal that says so. */
for (const path of [METADATA_PATH, `${METADATA_PATH}/mcp`]) {
  mcpTools.get(path, (c) => {
    const { linkBase, authorizationServers } = readEntrySettings(c.env);
    return c.json({
      resource: `${linkBase}/mcp`,
      ...(authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers }),
      scopes_supported: ["sandbox:connect", "sandbox:exec", "sandbox:admin"],
      bearer_methods_supported: ["header"],
      resource_name: "sbx-stdio",
    });
  });
}
