// Who may look at a preview: the cookie of its own origin, from its own page, and what the cookie rests on. No token counts here,
// nor any other credential of ours: a preview's server is shown none.

import { addressOf } from "../audit/worker-log.ts";
import { cookieValue } from "../auth/cookie.ts";
import type { EntrySettings } from "../auth/entry-settings.ts";
import { tenantKey } from "../auth/names.ts";
import { openProject, type ProjectEnv } from "../auth/project-gate.ts";
import { authProvider } from "../auth/provider.ts";
import { type IdentifyEnv, requireUnrevoked } from "../guards/identify.ts";
import type { PreviewUse } from "../limits/limit-calls.ts";
import { AuthFault } from "../refusal/fault.ts";
import { openPass, openPreviewTicket, type PreviewPass, passCookie, passCookieName } from "./pass.ts";

export type GateEnv = IdentifyEnv & ProjectEnv;

/** For so long an answer about a pass holds, in one Worker: a page asks for hundreds of files at once. */
const BELIEVED_MS = 1_000;
const MAX_BELIEVED = 1_000;

/** By the pass's id, until when it is believed. */
const believed = new Map<string, number>();

/** A browser's first request: shows its ticket, and is given the cookie. @throws {AuthFault} */
export async function enter(
  request: Request,
  env: GateEnv,
  settings: EntrySettings,
  label: string,
  origin: string,
): Promise<Response> {
  if (request.method !== "GET" || !isOpened(request))
    throw new AuthFault("bad_origin", "A preview is opened by a link");
  const text = new URL(request.url).searchParams.get("ticket") ?? "";
  const { pass, path, expiresAtMs } = await openPreviewTicket(text, label, settings);
  await requireGood(env, pass);
  const { tenant, subject, user, id, sandbox, port } = pass;
  const use: PreviewUse = { id, untilMs: expiresAtMs, sandbox, port };
  const actor = { tenant: tenant.tenantValue, user: user ?? subject, address: addressOf(request) };
  if (!(await env.TENANT.getByName(await tenantKey(tenant)).usePreview(use, actor))) {
    throw new AuthFault("ticket_used", "The ticket was used before: open the preview again from the terminal");
  }
  const headers = { "Set-Cookie": await passCookie(pass, settings), "Cache-Control": "no-store" };
  return new Response(null, { status: 303, headers: { ...headers, Location: origin + path } });
}

export type Admission =
  | { readonly kind: "admitted"; readonly pass: PreviewPass; readonly sandboxKey: string }
  /** Its time is over: whoever is still logged in gets another. */
  | { readonly kind: "ended"; readonly pass: PreviewPass };

/** @throws {AuthFault} */
export async function admit(
  request: Request,
  env: GateEnv,
  settings: EntrySettings,
  label: string,
  origin: string,
): Promise<Admission> {
  const pass = await openPass(cookieValue(request, passCookieName(settings)), label, settings);
  if (pass === undefined) throw new AuthFault("no_token", "Open the preview from the terminal");
  requireOwnPage(request, origin);
  if (pass.expiresAtMs <= Date.now()) return { kind: "ended", pass };
  await requireGood(env, pass);
  const { tenant, user, sandbox } = pass;
  const { sandboxKey } = await openProject(env, { tenant, asked: { user } }, sandbox);
  return { kind: "admitted", pass, sandboxKey };
}

/**
 * Another preview may be on the same site, where browsers add the cookie to what its page asks for: only a link in the window itself
 * may lead here from elsewhere.
 * @throws {AuthFault} `bad_origin`.
 */
function requireOwnPage(request: Request, origin: string): void {
  const { method, headers } = request;
  const isReading = (method === "GET" || method === "HEAD") && !headers.has("Upgrade");
  const from = headers.get("Origin");
  const isOwn = from === origin || (from === null && isReading && headers.get("Sec-Fetch-Site") === "same-origin");
  if (isOwn || (isReading && from === null && isOpened(request))) return;
  throw new AuthFault("bad_origin", "Only the preview's own page may ask for this");
}

/** Whether a person opens it: by a link, the address bar, or a program without pages. */
function isOpened({ headers }: Request): boolean {
  const site = headers.get("Sec-Fetch-Site");
  if (site === null || site === "none" || site === "same-origin") return true;
  return headers.get("Sec-Fetch-Mode") === "navigate" && headers.get("Sec-Fetch-Dest") === "document";
}

/** @throws {AuthFault} If what the pass rests on is good no more. */
async function requireGood(env: GateEnv, { id, tenant, subject, grant, opaque }: PreviewPass): Promise<void> {
  const now = Date.now();
  if ((believed.get(id) ?? 0) > now) return;
  if (opaque !== undefined && opaque.believedUntilMs <= now) await authProvider().verify(opaque.token, env);
  await requireUnrevoked(env, tenant, `preview ${subject}`, grant);
  if (believed.size >= MAX_BELIEVED) believed.clear();
  believed.set(id, now + BELIEVED_MS);
}
