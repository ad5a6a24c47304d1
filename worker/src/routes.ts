// The routes to sessions, whoever's Worker they stand in: who may come in, and to which Durable Object a request belongs.

import { Hono } from "hono";
import { readRecordingSettings } from "./attach/recording-settings.ts";
import { readAuditSettings } from "./audit/settings.ts";
import { requireAllowedHost } from "./auth/origin.ts";
import { readEntrySettings } from "./auth/provider.ts";
import type { StdioEnv } from "./env.ts";
import { answerFault } from "./guards/faults.ts";
import { reportRefusals } from "./metrics/report.ts";
import { attachRoutes } from "./routes/attach.ts";
import { sessionRoutes, tenantAuditRoutes } from "./routes/audit.ts";
import { codexRoutes, codexTicketRoutes } from "./routes/codex.ts";
import { layoutRoutes, preferenceRoutes } from "./routes/layouts.ts";
import { requireLogLevel } from "./routes/log-level.ts";
import type { McpTools } from "./routes/mcp.ts";
import { gatewayRoutes } from "./routes/mcp-gateway.ts";
import { metricsRoutes, openApiRoute } from "./routes/metrics.ts";
import { previewRoutes } from "./routes/previews.ts";
import { programRoutes } from "./routes/programs.ts";
import { pushRoutes } from "./routes/push.ts";
import { recordingRoutes, tenantRecordingRoutes } from "./routes/recordings.ts";
import { revocationRoutes } from "./routes/revocations.ts";
import { sandboxApiRoutes } from "./routes/sandbox-api.ts";
import { sandboxRoutes } from "./routes/sandboxes.ts";
import { terminalRoutes } from "./routes/terminal.ts";
import { attachTicketRoutes, shareRoutes } from "./routes/tickets.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { bellRoutes } from "./sandbox/bell.ts";
import { readEgress } from "./sandbox/egress.ts";

/** Without what follows behind all routes, and answers everything else. */
export function stdioRoutes(mcp?: McpTools): Hono<{ Bindings: StdioEnv }> {
  const app = new Hono<{ Bindings: StdioEnv }>();
  app.onError(answerFault);

  app.use(async (c, next) => {
    requireAllowedHost(c.req.raw, readEntrySettings(c.env));
    // Before anything is done: a policy that can't be read must not count as none.
    readAuditSettings(c.env);
    readRecordingSettings(c.env);
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
  app.route("/", codexRoutes);
  app.route("/", previewRoutes);
  app.route("/", openApiRoute);
  app.route("/", sandboxApiRoutes);
  app.route("/api/sandboxes", sandboxRoutes);
  app.route("/api/sandboxes", programRoutes);
  app.route("/api/sandboxes", recordingRoutes);
  app.route("/api/sandboxes", sessionRoutes);
  app.route("/api/sandboxes", shareRoutes);
  app.route("/api/sandboxes", codexTicketRoutes);
  app.route("/api/tickets", attachTicketRoutes);
  app.route("/api/revocations", revocationRoutes);
  app.route("/api/layout", layoutRoutes);
  app.route("/api/preferences", preferenceRoutes);
  app.route("/api/push", pushRoutes);
  app.route("/api/audit", tenantAuditRoutes);
  app.route("/api/recordings", tenantRecordingRoutes);
  app.route("/api/attention-webhook", webhookRoutes);
  if (mcp !== undefined) app.route("/", mcp);
  app.route("/", gatewayRoutes);
  return app;
}
