// The options that our Worker gives createStdio(): tokens of an OAuth issuer, the tools of MCP, the browser login, and the page.

import { Hono } from "hono";
import { oauthProvider } from "./auth/oauth-provider.ts";
import type { Env } from "./env.ts";
import { answerFault } from "./guards/faults.ts";
import { loginRoutes } from "./routes/login.ts";
import { mcpTools } from "./routes/mcp.ts";
import { page } from "./routes/page.ts";
import type { StdioOptions } from "./stdio.ts";

/** Everything beside sessions. The rules on hosts hold here too: these routes are asked after them. */
export const otherRoutes = new Hono<{ Bindings: Env }>();
otherRoutes.onError(answerFault);
otherRoutes.route("/", loginRoutes);
otherRoutes.all("/api/*", (c) => c.json({ error: "not_found", message: `no ${c.req.method} ${c.req.path}` }, 404));
otherRoutes.all("*", (c) => page(c.req.raw, c.env));

export const ours: StdioOptions<Env> = {
  authenticate: oauthProvider,
  mcp: mcpTools,
  otherwise: (request, env, ctx) => otherRoutes.fetch(request, env, ctx),
};
