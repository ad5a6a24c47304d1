// The routes at which clients attach, one for each path of the dialects' table: authenticates, has the row read the request,
// and hands the upgrade to the session's Durable Object.

import { type Context, Hono } from "hono";
import {
  type AttachWish,
  CLOSE,
  chooseRoute,
  DIALECT_ROUTES,
  type DialectRoute,
  defined,
  SANDBOX_PTY,
  TTYD,
} from "sandbox-stdio/core";
import {
  type AttachRight,
  attachRight,
  completeQuery,
  type OtherSession,
  requireTarget,
} from "../attach/attach-right.ts";
import { requestOf } from "../attach/attach-spec.ts";
import { type EntryEnv, pass } from "../attach/entry-limits.ts";
import { addressOf, logRefused } from "../audit/worker-log.ts";
import { offeredProtocols } from "../auth/credentials.ts";
import { requireListedOrigin } from "../auth/origin.ts";
import { nameProject, type ProjectEnv, type ProjectQuestion } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import type { AuthEnv } from "../auth/settings.ts";
import type { ConnectionKind } from "../limits/limit-calls.ts";
import { AuthFault, refusal as authRefusal } from "../refusal/fault.ts";
import { type Answering, refuseHttp, refuseUpgrade } from "../refusal/refusal.ts";
import { hasMade, reworded, withParameterAsHeader } from "../sandbox-api/caller.ts";
import { roleRefusal } from "../session/admission.ts";
import { terminalGate } from "../terminal/gate.ts";
import { attachOnceAuthenticated } from "../terminal/pre-auth.ts";
import type { TerminalEnv } from "../terminal/settings.ts";
import { readBasic, withToken } from "../terminal/ttyd-token.ts";

/** The bindings and variables that attaching reads, up to the session object. */
export type AttachEnv = EntryEnv & AuthEnv & ProjectEnv & TerminalEnv;

export const attachRoutes = new Hono<{ Bindings: AttachEnv }>();

for (const path of new Set(DIALECT_ROUTES.map((row) => row.path))) {
  const rows = DIALECT_ROUTES.filter((row) => row.path === path);
  const isSandboxApi = rows.some(({ dialect }) => dialect === SANDBOX_PTY);
  attachRoutes.get(path, (c) =>
    isSandboxApi ? attachRoute(c, rows, withParameterAsHeader(c.req.raw)).then(reworded) : attachRoute(c, rows),
  );
}

async function attachRoute(
  c: Context<{ Bindings: AttachEnv }>,
  rows: readonly DialectRoute[],
  request = c.req.raw,
): Promise<Response> {
  if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
    const body = { error: "upgrade_required", message: `${c.req.path} is a WebSocket` };
    return Response.json(body, { status: 426, headers: { Upgrade: "websocket" } });
  }
  // With nothing but a token offered, authenticating says what is wrong.
  const offered = request.headers.has("Sec-WebSocket-Protocol") ? offeredProtocols(request) : [];
  const row = chooseRoute(rows, offered);
  try {
    const settings = readEntrySettings(c.env);
    const hasList = row?.checksOrigin === true;
    if (hasList) requireListedOrigin(request, settings);
    const basic = row?.dialect === TTYD ? readBasic(request, settings) : undefined;
    const cookieOrigins = hasList ? settings.allowedOrigins : undefined;
    const right = await attachRight(basic?.request ?? request, c.env, settings, cookieOrigins);
    if (row === undefined) {
      const spoken = rows.flatMap((one) => one.subprotocol?.name ?? []).join(", ") || "no subprotocol";
      const message = `none of the subprotocols offered is spoken here; ${spoken} is`;
      return refuseHttp({ code: CLOSE.badRequest, error: "bad_request", message });
    }
    const search = completeQuery(new URL(request.url).searchParams, right.only, otherSession(row));
    const wish = row.wish({ params: c.req.param(), search });
    if (!wish.ok) {
      logRefused(request, { code: wish.error, message: wish.detail });
      return refuseUpgrade(answering(row, offered), { code: wish.code, error: wish.error, message: wish.detail });
    }
    const { query } = wish;
    // Not every route has the names in its query.
    const asked = { sandbox: query.sandbox, session: query.session ?? "", role: query.role };
    requireTarget(right.only, asked, otherSession(row));
    const isProxied = row.dialect === TTYD && terminalGate(c.env, right.grant, query.role);
    const attachAs = (who: AttachRight) => attach(c.env, request, who, row, wish, offered, isProxied);
    return await attachAs(right).catch((error: unknown) => {
      if (right.asGuest === undefined || !(error instanceof AuthFault) || error.code !== "not_owner") throw error;
      return attachAs(right.asGuest);
    });
  } catch (error) {
    if (!(error instanceof AuthFault)) throw error;
    if (error.code === "no_token" && row?.dialect === TTYD) {
      const attach = (token: string) => attachRoute(c, rows, withToken(request, token));
      const waitUntil = (promise: Promise<void>) => c.executionCtx.waitUntil(promise);
      return attachOnceAuthenticated({ env: c.env, request, client: answering(row, offered), attach, waitUntil });
    }
    logRefused(request, error);
    // A page can't see an HTTP refusal. One whose host or origin is wrong is told nothing that way: it is no client of ours.
    const isOurs = error.code !== "bad_host" && error.code !== "bad_origin";
    if (row?.refusal === "close" && isOurs) {
      const { code, status, message } = error;
      // A dialect's own words for 503 are about the container.
      const refusal = { code: 4000 + status, error: code, message, ...(status === 503 ? { reason: message } : {}) };
      return refuseUpgrade(answering(row, offered), refusal);
    }
    return authRefusal(error);
  }
}

async function attach(
  env: AttachEnv,
  request: Request,
  right: AttachRight,
  row: DialectRoute,
  { query, command, line, dialect = row.dialect, mayForce = true }: Extract<AttachWish, { ok: true }>,
  offered: readonly string[],
  isProxied: boolean,
): Promise<Response> {
  const { tenant, grant } = right;
  const { question, sandboxKey, sessionKey } = await nameProject(env, right.asker, query.sandbox);
  if (row.dialect === SANDBOX_PTY && !(await hasMade(env, tenant, sandboxKey))) {
    return refuseHttp({ code: CLOSE.notFound, error: "not_found", message: "there is no such sandbox" });
  }
  const wrongRole = typeof question === "function" ? roleRefusal(query.role, grant) : undefined;
  if (wrongRole !== undefined) return refuseUpgrade(answering(row, offered), wrongRole);
  const session = query.session ?? crypto.randomUUID().replaceAll("-", "").slice(0, 20);
  const keys = { sandboxKey, sandbox: query.sandbox, sessionKey: await sessionKey(session) };
  const kind: ConnectionKind = row.limits === "json" ? "json" : "other";
  const sessionObject = env.SESSION.getByName(keys.sessionKey);
  // The object may be far away, or not exist yet. If waking fails, the upgrade reports it.
  const wake = () => void sessionObject.wake().catch(() => undefined);
  const asked = { ...keys, kind, resume: query.resume };
  const passed = await pass(env, request, right, asked, onceAnswered(question, wake));
  if ("code" in passed) return refuseUpgrade(answering(row, offered), passed);
  const { user } = passed;
  const ticket = (grant.share ?? grant.attachTicket)?.id;
  return sessionObject.fetch(
    requestOf({
      ...answering({ ...row, dialect }, offered),
      sandboxKey,
      session,
      query,
      ...defined({ command, line, limits: row.limits }),
      isTransient: row.isTransient === true,
      ...(isProxied ? { upstream: "ttyd" } : {}),
      who: { ...grant, isAdmin: mayForce && grant.isAdmin },
      actor: {
        // A client that comes by a link may be of another tenant than the session.
        tenant: grant.bearer?.tenantValue ?? tenant.tenantValue,
        user: grant.isGuest ? grant.subject : (user ?? grant.subject),
        address: addressOf(request),
        ...defined({ ticket }),
      },
      pass: passed.pass,
    }),
  );
}

/** Does `reach` once it is known whose the project is: nothing of it is reached before. */
function onceAnswered(question: ProjectQuestion, reach: () => void): ProjectQuestion {
  if (typeof question === "function") {
    return async () => {
      const user = await question();
      reach();
      return user;
    };
  }
  reach();
  return question;
}

function otherSession({ authenticatesSession }: DialectRoute): OtherSession {
  return authenticatesSession === true ? "wrong_session" : "wrong_ticket";
}

function answering({ dialect, subprotocol, refusal }: DialectRoute, offered: readonly string[]): Answering {
  const selected = subprotocol !== undefined && offered.includes(subprotocol.name) ? subprotocol.name : undefined;
  return { dialect: dialect.name, refusal, ...defined({ subprotocol: selected }) };
}
