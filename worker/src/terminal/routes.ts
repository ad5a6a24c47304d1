// What a ttyd answers over HTTP, at `/terminal/{project_id}`: its page, and the token that its page asks for. WebSockets are
// the dialects' matter.

import { type Context, Hono } from "hono";
import { authenticate } from "../auth/authenticate.ts";
import { sandboxKey } from "../auth/names.ts";
import { readAuthSettings } from "../auth/settings.ts";
import type { Env } from "../env.ts";
import { refuseHttp } from "../refusal.ts";
import { terminalGate } from "./gate.ts";
import { parseTerminalAddress } from "./path.ts";
import { NOT_RUNNING } from "./relay.ts";
import { readTerminalSettings } from "./settings.ts";
import { ttydAddress } from "./ttyd-address.ts";
import { askTtyd } from "./upstream.ts";

/** As a ttyd without a password of its own says it: what lets a client in is its token or its cookie. */
const NO_TOKEN = '{"token": ""}';

/**
 * A page out of a sandbox is not ours: it runs in an origin of its own, where it has neither our cookie nor our storage.
 * It may draw itself as it likes, and connect to nobody but us.
 */
const FOREIGN_PAGE_POLICY = [
  "sandbox allow-scripts allow-modals allow-downloads",
  "default-src 'self' 'unsafe-inline' data: blob:",
  "frame-ancestors 'none'",
].join("; ");

export const terminalRoutes = new Hono<{ Bindings: Env }>();

terminalRoutes.all("/terminal/*", async (c, next) => {
  if (c.req.header("Upgrade")?.toLowerCase() === "websocket") return next();
  const address = parseTerminalAddress(`${c.req.path}`, false);
  if (address === undefined) return next();
  const { ttyd } = readTerminalSettings(c.env);
  if (ttyd !== undefined) return ofTtyd(c, address.project, address.part === "token" ? "/token" : "/");
  if (address.part === "token") {
    return c.body(NO_TOKEN, 200, { "Content-Type": "application/json;charset=utf-8", "Cache-Control": "no-store" });
  }
  // ttyd's page comes with ttyd. Ours shows the same session.
  const query = new URLSearchParams({ sandbox: address.project, session: c.req.query("session") || "main" });
  return c.redirect(`/?${query}`);
});

async function ofTtyd(c: Context<{ Bindings: Env }>, project: string, path: "/" | "/token"): Promise<Response> {
  const { identity, token } = await authenticate(c.req.raw, readAuthSettings(c.env));
  const key = await sandboxKey(identity, project);
  await terminalGate(c.env, { mayExec: identity.scopes.has("sandbox:exec") }, token, project);
  const { ttyd } = readTerminalSettings(c.env);
  const answer = ttyd && (await askTtyd(c.env, ttydAddress(ttyd, key), path));
  if (answer === undefined) {
    return refuseHttp({ code: NOT_RUNNING.code, error: "not_running", message: NOT_RUNNING.reason });
  }
  const headers = new Headers({
    "Content-Type": answer.headers.get("Content-Type") ?? "application/octet-stream",
    "Content-Security-Policy": FOREIGN_PAGE_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  });
  return new Response(answer.body, { status: answer.status, headers });
}
