// Routes about the whole deployment: `GET /metrics` for callers with METRICS_TOKEN (a tenant's token does not read it), and OpenAPI.

import { openApiDocument } from "@sbx/api";
import { Hono } from "hono";
import { readEntrySettings } from "../auth/provider.ts";
import { PROMETHEUS_TYPE } from "../metrics/prometheus.ts";
import { COUNTER, isCounted, type MetricsEnv } from "../metrics/report.ts";

export const metricsRoutes = new Hono<{ Bindings: MetricsEnv }>();

metricsRoutes.get("/metrics", async (c) => {
  const { env, req } = c;
  if (!isCounted(env) || env.COUNTERS === undefined) {
    return c.json({ error: "not_found", message: "no metrics: METRICS_TOKEN is not set" }, 404);
  }
  const shown = /^Bearer (.+)$/i.exec(req.header("Authorization") ?? "")?.[1] ?? "";
  if (!(await isSame(shown, env.METRICS_TOKEN ?? ""))) {
    const body = { error: "no_metrics_token", message: "show METRICS_TOKEN as a bearer token" };
    return c.json(body, 401, { "WWW-Authenticate": "Bearer" });
  }
  const text = await env.COUNTERS.getByName(COUNTER).read();
  return c.body(text, 200, { "Content-Type": PROMETHEUS_TYPE, "Cache-Control": "no-store" });
});

/** In a time that does not tell how much of it is right. */
async function isSame(one: string, other: string): Promise<boolean> {
  const bytes = new TextEncoder();
  const digests = [one, other].map((text) => crypto.subtle.digest("SHA-256", bytes.encode(text)));
  const [a, b] = await Promise.all(digests);
  return a !== undefined && b !== undefined && crypto.subtle.timingSafeEqual(a, b);
}

/** Version of the interface, as in the package. */
const VERSION = "0.2.0";

/** The OpenAPI document of the programs' interface. Holds no secret: every caller may read it. */
export const openApiRoute = new Hono<{ Bindings: object }>();

openApiRoute.get("/api/openapi.json", (c) => c.json(openApiDocument(readEntrySettings(c.env).linkBase, VERSION)));
