// The routes to sessions, whoever's Worker they stand in: who may come in, and to which Durable Object a request belongs.

import { Hono } from "hono";
import { attachRoutes } from "./attach/attach-route.ts";
import { readAuditSettings } from "./audit/settings.ts";
import { tenantAuditRoutes } from "./audit/tenant-route.ts";
import { requireAllowedHost } from "./auth/origin.ts";
import { readEntrySettings } from "./auth/way.ts";
import type { StdioEnv } from "./env.ts";
import { answerFault } from "./faults.ts";
import { layoutRoutes, preferenceRoutes } from "./layouts/layout-route.ts";
import { revocationRoutes } from "./limits/revocation-route.ts";
import { requireLogLevel } from "./log-level.ts";
import { gatewayRoutes } from "./mcp/gateway-routes.ts";
import type { McpTools } from "./mcp/routes.ts";
import { metricsRoutes } from "./metrics/metrics-route.ts";
import { reportRefusals } from "./metrics/refusals.ts";
import { previewRoutes } from "./preview/routes.ts";
import { openApiRoute } from "./programs/openapi-route.ts";
import { programRoutes } from "./programs/routes.ts";
import { sandboxRoutes } from "./programs/sandbox-routes.ts";
import { bellRoutes } from "./sandbox/bell.ts";
import { readEgress } from "./sandbox/egress.ts";
import { sessionRoutes } from "./session/session-routes.ts";
import { terminalRoutes } from "./terminal/routes.ts";
import { attachTicketRoutes, shareRoutes } from "./tickets/ticket-routes.ts";
import { webhookRoutes } from "./webhooks/webhook-route.ts";

/** Without what follows behind all routes, and answers everything else. */
export function stdioRoutes(mcp?: McpTools): Hono<{ Bindings: StdioEnv }> {
  const app = new Hono<{ Bindings: StdioEnv }>();
  app.onError(answerFault);

  app.use(async (c, next) => {
    requireAllowedHost(c.req.raw, readEntrySettings(c.env));
    // Before anything is done: a policy that can't be read must not count as none.
    readAuditSettings(c.env);
    requireLogLevel(c.env);
    readEgress(c.env);
    await next();
    reportRefusals(c.env, Date.now(), (promise) => c.executionCtx.waitUntil(promise));
  });

  app.route("/", bellRoutes);
  // Only what is above: each object, issuer or container that it asked would cost something, and anybody may ask.
  app.get("/healthz", (c) => c.json({ ok: true, checked: ["host", "settings"] }));
  app.route("/", metricsRoutes);
  app.route("/", terminalRoutes);
  app.route("/", attachRoutes);
  app.route("/", previewRoutes);
  app.route("/", openApiRoute);
  app.route("/api/sandboxes", sandboxRoutes);
  app.route("/api/sandboxes", programRoutes);
  app.route("/api/sandboxes", sessionRoutes);
  app.route("/api/sandboxes", shareRoutes);
  app.route("/api/tickets", attachTicketRoutes);
  app.route("/api/revocations", revocationRoutes);
  app.route("/api/layout", layoutRoutes);
  app.route("/api/preferences", preferenceRoutes);
  app.route("/api/audit", tenantAuditRoutes);
  app.route("/api/attention-webhook", webhookRoutes);
  if (mcp !== undefined) app.route("/", mcp);
  app.route("/", gatewayRoutes);
  return app;
}
