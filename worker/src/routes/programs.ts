// The programs' routes: each parses by its schema, asks the session's Durable Object, and shapes the answer.

import { processSchemas, sessionSchemas } from "@sbx/api";
import { type Context, Hono } from "hono";
import { defined, SIGNALS } from "sandbox-stdio/core";
import { MAX_WRITE_BYTES } from "sandbox-stdio/programs";
import { type EntryEnv, giveBack, revocablePart } from "../attach/entry-limits.ts";
import { askerOf } from "../attach/grant.ts";
import type { SandboxScope } from "../auth/identity.ts";
import type { ProjectEnv } from "../auth/project-gate.ts";
import type { IdentifyEnv } from "../guards/identify.ts";
import { answerOf } from "../programs/answer-of.ts";
import { ask, askBriefly, type Target, untilAnswered } from "../programs/ask.ts";
import { type Authorized, authorized, passToStart } from "../programs/authorized.ts";
import {
  NEEDS_PASS,
  type Operation,
  type ProgramAnswer,
  type ProgramCall,
  refused,
} from "../programs/operations/call.ts";
import type { Drive } from "../programs/operations/drive.ts";
import { conditionOf } from "../programs/operations/wait.ts";
import { type Reading, readOutputRoute } from "../programs/output.ts";
import { checkSessionName, parseBody, parseQuery, processOf } from "../programs/parse.ts";
import { respond, respondInTime } from "../programs/respond.ts";
import { askWaiting } from "../programs/wait-socket.ts";
import type { DirectoryEnv } from "../sandbox/directory.ts";

export type ProgramsEnv = IdentifyEnv & ProjectEnv & EntryEnv & DirectoryEnv;
type AppContext = Context<{ Bindings: ProgramsEnv }>;

export const programRoutes = new Hono<{ Bindings: ProgramsEnv }>();

const FRESH_LENGTH = 20;
const FULL_RETRY_SECONDS = 10;

programRoutes.get("/:sandbox/sessions", async (c) => {
  const { project, who } = await enter(c, "sandbox:connect");
  const query = parseQuery(c.req.raw, sessionSchemas.listQuery);
  if (!query.ok) return respond(query.answer);
  const { limit, after } = query.value;
  const page = await c.env.DIRECTORY.getByName(project.sandboxKey).page(limit, after);
  if (page === undefined) return respond(refused(404, "not_found", `no session "${after}" to go on after`));
  const listings = await Promise.all(
    page.names.map(async (name) => c.env.SESSION.getByName(await project.sessionKey(name)).describe(askerOf(who))),
  );
  const sessions = listings.filter((listing) => listing !== undefined);
  return c.json({ sessions, ...defined({ next: page.next }) });
});

programRoutes.get("/:sandbox/sessions/:session", async (c) => {
  const { project, who } = await enter(c, "sandbox:connect");
  const query = parseQuery(c.req.raw, sessionSchemas.namedQuery);
  if (!query.ok) return respond(query.answer);
  const listing = await c.env.SESSION.getByName(await project.sessionKey(nameOf(c))).describe(askerOf(who));
  if (listing === undefined) return respond(noSession(c));
  const other = otherIncarnation(listing.incarnation, query.value.incarnation);
  return other === undefined ? c.json(listing) : respond(other);
});

programRoutes.put("/:sandbox/sessions/:session", (c) => create(c, nameOf(c)));
programRoutes.post("/:sandbox/sessions", (c) => create(c, freshName()));

async function create(c: AppContext, session: string): Promise<Response> {
  const who = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, processSchemas.createRequest);
  if (!body.ok) return respond(body.answer);
  const process = processOf(body.value, "", false);
  if (!process.ok) return respond(process.answer);
  return started(c, who, session, { type: "create", process: process.value }, body.value.incarnation);
}

programRoutes.post("/:sandbox/run", async (c) => {
  const who = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, processSchemas.runRequest);
  if (!body.ok) return respond(body.answer);
  const { stdin, stdinBase64, tty, waitMs, maxBytes, session = freshName() } = body.value;
  const given = stdinBase64 ?? (typeof stdin === "string" ? toBase64(stdin) : "");
  // Without any it is at its end from the start on pipes, and open on a PTY; null leaves it open (U1).
  const isEnded = stdin !== null && (!tty || stdin !== undefined || stdinBase64 !== undefined);
  const process = processOf(body.value, given, isEnded);
  if (!process.ok) return respond(process.answer);
  const wrongName = checkSessionName(session);
  if (wrongName !== undefined) return respond(wrongName);
  const hasInput = typeof stdin === "string" || stdinBase64 !== undefined;
  const saysInput = hasInput || stdin === null;
  const operation = { type: "run", process: process.value, hasInput, saysInput, waitMs, maxBytes } as const;
  return started(c, who, session, operation, body.value.incarnation);
});

/** An operation that starts its process where that is not there: asked first whether it is, since a start is an attempt. */
async function started(
  c: AppContext,
  who: Authorized,
  session: string,
  operation: Operation,
  incarnation: string | undefined,
): Promise<Response> {
  const { target, callOf, abandon, waitUntil } = await at(c, who, session);
  const asked = async (): Promise<ProgramAnswer> => {
    const found = await ask(target, callOf(operation, incarnation));
    if (found.status !== NEEDS_PASS) return found;
    const pass = await passToStart(c.req.raw, c.env, who, target.sessionKey);
    if ("code" in pass) return answerOf(pass);
    return ask(target, { ...callOf(operation, incarnation), pass, mayStart: true }).finally(() =>
      waitUntil(giveBack(c.env, pass)),
    );
  };
  return respondInTime(asked(), abandon, waitUntil);
}

programRoutes.get("/:sandbox/sessions/:session/output", async (c) => {
  const who = await enter(c, "sandbox:connect");
  const query = parseQuery(c.req.raw, sessionSchemas.readQuery);
  if (!query.ok) return respond(query.answer);
  return readOutputRoute(c.req.raw, query.value, await at(c, who, nameOf(c)));
});

programRoutes.post("/:sandbox/sessions/:session/wait", async (c) => {
  const who = await enter(c, "sandbox:connect");
  const body = await parseBody(c.req.raw, sessionSchemas.waitRequest);
  if (!body.ok) return respond(body.answer);
  const { incarnation, until, timeoutMs, maxBytes } = body.value;
  // Before the session's object is asked, which others wait for too (T4).
  const condition = conditionOf(until);
  if ("status" in condition) return respond(condition);
  const { target, callOf, enter: enterWait, leave, abandon, waitUntil } = await at(c, who, nameOf(c));
  const deadlineMs = Date.now() + timeoutMs;
  // The Worker settles the start of the search first: the wait then misses no output that comes while the object restarts.
  const look = { type: "locate", from: body.value.from, waitsFor: condition.kind } as const;
  const located = await askBriefly(target, callOf(look, incarnation));
  if (located.status !== 200) return respond(located);
  const refusal = await enterWait();
  if (refusal !== undefined) return respond(refusal);
  const from = body.value.from ?? Number(located.body.end);
  const call = callOf({ type: "locate" }, String(located.body.incarnation));
  const asked = () => {
    const timeoutMs = Math.max(0, deadlineMs - Date.now());
    return askWaiting(target, { ...call, operation: { type: "wait", until, from, timeoutMs, maxBytes } });
  };
  return respondInTime(untilAnswered(target, asked, timeoutMs).finally(leave), abandon, waitUntil);
});

programRoutes.post("/:sandbox/sessions/:session/signal", async (c) => {
  const who = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, sessionSchemas.signalRequest);
  if (!body.ok) return respond(body.answer);
  const { incarnation, writer, signal } = body.value;
  if (!(SIGNALS as readonly string[]).includes(signal)) {
    return respond(refused(400, "bad_request", `"signal" is one of ${SIGNALS.join(", ")}`));
  }
  return driven(c, who, { type: "signal", writer, signal }, incarnation);
});

programRoutes.post("/:sandbox/sessions/:session/resize", async (c) => {
  const who = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, sessionSchemas.resizeRequest);
  if (!body.ok) return respond(body.answer);
  const { incarnation, ...size } = body.value;
  return driven(c, who, { type: "resize", ...size }, incarnation);
});

programRoutes.post("/:sandbox/sessions/:session/keyboard", async (c) => {
  const who = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, sessionSchemas.keyboardRequest);
  if (!body.ok) return respond(body.answer);
  const { incarnation, ...wish } = body.value;
  return driven(c, who, { type: "keyboard", ...wish }, incarnation);
});

async function driven(c: AppContext, who: Authorized, operation: Drive, incarnation?: string): Promise<Response> {
  const { target, callOf } = await at(c, who, nameOf(c));
  return respond(await ask(target, callOf(operation, incarnation)));
}
programRoutes.post("/:sandbox/sessions/:session/input", async (c) => {
  const who = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, sessionSchemas.writeRequest, "input");
  if (!body.ok) return respond(body.answer);
  const { incarnation, text, base64, keys, paste, ...rest } = body.value;
  const bytes = text === undefined ? base64 && atob(base64) : latin1Of(text);
  if ((bytes ?? paste ?? "").length > MAX_WRITE_BYTES || (keys?.length ?? 0) > MAX_WRITE_BYTES) {
    return respond(refused(413, "input_too_long", `more than ${MAX_WRITE_BYTES} bytes of input in one call`));
  }
  const { target, callOf, abandon, waitUntil } = await at(c, who, nameOf(c));
  const operation = { type: "write", ...rest, bytes, keys, paste } as const;
  return respondInTime(ask(target, callOf(operation, incarnation)), abandon, waitUntil);
});

programRoutes.get("/:sandbox/sessions/:session/screen", async (c) => {
  const who = await enter(c, "sandbox:connect");
  const query = parseQuery(c.req.raw, sessionSchemas.screenQuery);
  if (!query.ok) return respond(query.answer);
  const { incarnation, ...wish } = query.value;
  const { target, callOf } = await at(c, who, nameOf(c));
  return respond(await ask(target, callOf({ type: "screen", ...wish }, incarnation)));
});

programRoutes.get("/:sandbox/sessions/:session/commands", async (c) => {
  const who = await enter(c, "sandbox:connect");
  const query = parseQuery(c.req.raw, sessionSchemas.commandsQuery);
  if (!query.ok) return respond(query.answer);
  const { target, callOf } = await at(c, who, nameOf(c));
  return respond(await ask(target, callOf({ type: "commands" }, query.value.incarnation)));
});

programRoutes.delete("/:sandbox/sessions/:session", async (c) => {
  const { project, actor } = await enter(c, "sandbox:exec");
  const body = await parseBody(c.req.raw, sessionSchemas.namedQuery);
  if (!body.ok) return respond(body.answer);
  const stub = c.env.SESSION.getByName(await project.sessionKey(nameOf(c)));
  const wanted = body.value.incarnation;
  if (wanted !== undefined) {
    const listing = await stub.describe();
    const other = listing && otherIncarnation(listing.incarnation, wanted);
    if (other !== undefined) return respond(other);
  }
  return (await stub.end(actor)) ? c.body(null, 204) : respond(noSession(c));
});

// ---- What they share ---------------------------------------------------------------------------------------------

function enter(c: AppContext, scope: SandboxScope): Promise<Authorized> {
  return authorized(c.req.raw, c.env, c.req.param("sandbox") ?? "", scope);
}

/** How the session's object is asked. */
export async function at<E extends { Bindings: ProgramsEnv }>(
  c: Context<E>,
  who: Pick<Authorized, "who" | "project" | "actor" | "pass">,
  session: string,
): Promise<Reading & { readonly target: Target }> {
  const { env } = c;
  const { project, actor, pass } = who;
  const sessionKey = await project.sessionKey(session);
  const given = new AbortController();
  const signal = AbortSignal.any([c.req.raw.signal, given.signal]);
  const { sandboxKey } = project;
  const sandbox = c.req.param("sandbox") ?? "";
  const places = env.ADDRESS.getByName(pass.address);
  let hasPlace = false;
  const waitUntil = (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise);
  return {
    target: { env, sessionKey, signal },
    callOf: (operation, incarnation): ProgramCall => {
      const caller = { who: who.who, actor, pass, mayStart: false };
      return {
        sandboxKey,
        sandbox,
        session,
        ...caller,
        operation,
        ...defined({ incarnation }),
      };
    },
    enter: async () => {
      const [isIn, isGood] = await Promise.all([
        places.take({ id: pass.connection, sessionKey, kind: "other" }),
        // The session hears of revocations from here on.
        env.TENANT.getByName(pass.homeKey).renew(revocablePart(who.who), sessionKey, who.who.expiresAtMs),
      ]);
      hasPlace = isIn;
      if (isIn && isGood) return undefined;
      if (isIn) waitUntil(giveBack(env, pass));
      if (!isGood) return refused(401, "revoked", "the token or its user was revoked");
      const full = refused(429, "too_many_connections", "too many connections from this address");
      return { ...full, retryAfterSeconds: FULL_RETRY_SECONDS };
    },
    leave: () => {
      if (hasPlace) waitUntil(giveBack(env, pass));
      hasPlace = false;
    },
    abandon: () => given.abort(),
    waitUntil,
  };
}

function nameOf(c: AppContext): string {
  return c.req.param("session") ?? "";
}

function freshName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, FRESH_LENGTH);
}

/** A character for each byte of UTF-8. */
function latin1Of(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

function toBase64(text: string): string {
  return btoa(latin1Of(text));
}

function noSession(c: AppContext): ProgramAnswer {
  return refused(404, "not_found", `no session "${nameOf(c)}" in sandbox "${c.req.param("sandbox")}"`);
}

function otherIncarnation(current: string, wanted: string | undefined): ProgramAnswer | undefined {
  if (wanted === undefined || wanted === current) return undefined;
  return refused(404, "other_incarnation", "the session has another process now", { incarnation: current });
}
