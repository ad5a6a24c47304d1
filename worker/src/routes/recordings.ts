// The routes of recordings (G3 to G6, G8): authorization, parsing and responses.

import { recordingSchemas } from "@sbx/api";
import { type Context, Hono } from "hono";
import { defined } from "sandbox-stdio/core";
import type * as z from "zod";
import { attachRight, requireTarget } from "../attach/attach-right.ts";
import { addressOf, revocablePart } from "../attach/entry-limits.ts";
import type { Removal } from "../attach/recording-calls.ts";
import type { SessionCalls } from "../attach/session-calls.ts";
import { actorOf } from "../audit/worker-log.ts";
import { requireScope, type SandboxScope } from "../auth/identity.ts";
import { tenantKey } from "../auth/names.ts";
import { openProject } from "../auth/project-gate.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { log } from "../base/log.ts";
import { requireUnrevoked } from "../guards/identify.ts";
import { addressKey } from "../limits/address-key.ts";
import { type Authorized, authorized, callerOf } from "../programs/authorized.ts";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import { parseBody, parseQuery } from "../programs/parse.ts";
import { respond } from "../programs/respond.ts";
import { castOf } from "../recordings/cast.ts";
import { momentOf } from "../recordings/moment.ts";
import { absent, type ReadingEnv, RecordingReading, StorageFault } from "../recordings/reading.ts";
import { searched, targetOf } from "../recordings/search.ts";
import { AuthFault } from "../refusal/fault.ts";
import { at, type ProgramsEnv } from "./programs.ts";

type RecordingsEnv = ProgramsEnv & ReadingEnv;
type AppContext = Context<{ Bindings: RecordingsEnv }>;
type Session = DurableObjectStub<SessionCalls>;

export const recordingRoutes = new Hono<{ Bindings: RecordingsEnv }>();
const PATH = "/:sandbox/sessions/:session";

recordingRoutes.get(`${PATH}/recordings`, async (c) => {
  const { session } = await enter(c, "sandbox:connect");
  return withQuery(c, recordingSchemas.recordingsQuery, async ({ limit, after }) => {
    const all = await session.listRecordings();
    const first = after === undefined ? 0 : all.findIndex(({ incarnation }) => incarnation === after) + 1;
    if (after !== undefined && first === 0) return refused(404, "not_found", `no recording "${after}" to go on after`);
    const recordings = all.slice(first, first + limit);
    const next = first + limit < all.length ? recordings.at(-1)?.incarnation : undefined;
    return { status: 200, body: { recordings, ...defined({ next }) } };
  });
});

recordingRoutes.get(`${PATH}/recording`, async (c) => {
  const reader = await readerOf(c);
  return withQuery(c, recordingSchemas.castQuery, async ({ incarnation, ...asked }) => {
    const reading = await openFor(c, reader, incarnation);
    if (!(reading instanceof RecordingReading)) return reading;
    const { who, pass } = reader.who;
    return castOf(reading, asked, { reader: { who, pass }, ...(await at(c, reader.who, nameOf(c))) });
  });
});

recordingRoutes.get(`${PATH}/recording/screen`, async (c) => {
  const reader = await readerOf(c);
  return withQuery(c, recordingSchemas.momentQuery, async ({ incarnation, offset, time, format, scrollback = 0 }) => {
    const reading = await openFor(c, reader, incarnation);
    if (!(reading instanceof RecordingReading)) return reading;
    const place = offset ?? (await reading.offsetAt(Date.parse(time ?? "")));
    return typeof place === "number" ? momentOf(reading, { offset: place, format, scrollback }) : place;
  });
});

recordingRoutes.get(`${PATH}/recording/search`, async (c) => {
  const reader = await readerOf(c);
  return withQuery(c, recordingSchemas.searchQuery, async (asked) => {
    const target = targetOf(asked);
    if ("status" in target) return target;
    const reading = await openFor(c, reader, asked.incarnation);
    return reading instanceof RecordingReading ? searched(reading, target, asked) : reading;
  });
});

recordingRoutes.delete(`${PATH}/recording`, async (c) => {
  const { session, who } = await enter(c, "sandbox:connect");
  return withQuery(c, recordingSchemas.removalQuery, async ({ incarnation }) =>
    answerOfRemoval(await session.removeRecordings(incarnation, who.actor, who.who.isAdmin)),
  );
});

recordingRoutes.post(`${PATH}/recording/hold`, async (c) => {
  const { session, who } = await enter(c, "sandbox:admin");
  const body = await parseBody(c.req.raw, recordingSchemas.holdRequest);
  if (!body.ok) return respond(body.answer);
  const { incarnation, reason } = body.value;
  return respond(held(await session.holdRecording(incarnation, reason, who.actor)));
});

recordingRoutes.delete(`${PATH}/recording/hold`, async (c) => {
  const { session, who } = await enter(c, "sandbox:admin");
  return withQuery(c, recordingSchemas.releaseQuery, async ({ incarnation }) =>
    held(await session.holdRecording(incarnation, undefined, who.actor)),
  );
});

/** All recordings of a person. */
export const tenantRecordingRoutes = new Hono<{ Bindings: RecordingsEnv }>();

tenantRecordingRoutes.delete("/", async (c) => {
  const { identity } = await callerOf(c.req.raw, c.env, "sandbox:connect");
  requireScope(identity, "sandbox:admin");
  return withQuery(c, recordingSchemas.personQuery, async ({ sub }) => {
    const tenant = c.env.TENANT.getByName(await tenantKey(identity));
    return { status: 202, body: { count: await tenant.removeRecordingsOf(sub, actorOf(c.req.raw, identity)) } };
  });
});

/** Answers by the request's query, if it is one. */
async function withQuery<Schema extends z.ZodObject>(
  c: AppContext,
  schema: Schema,
  answerTo: (asked: z.output<Schema>) => Promise<ProgramAnswer | Response>,
): Promise<Response> {
  const query = parseQuery(c.req.raw, schema);
  if (!query.ok) return respond(query.answer);
  try {
    const answer = await answerTo(query.value);
    return answer instanceof Response ? answer : respond(answer);
  } catch (error) {
    if (!(error instanceof StorageFault)) throw error;
    log.error("a recording could not be read:", error.cause);
    return respond(refused(503, "unavailable", error.message));
  }
}

async function enter(
  c: AppContext,
  scope: SandboxScope,
): Promise<{ readonly who: Authorized; readonly session: Session }> {
  const who = await authorized(c.req.raw, c.env, c.req.param("sandbox") ?? "", scope);
  return { who, session: c.env.SESSION.getByName(await who.project.sessionKey(nameOf(c))) };
}

type Caller = Pick<Authorized, "who" | "project" | "actor" | "pass">;
/** `only`: the one process whose recording the caller may read. */
type Reader = { readonly who: Caller; readonly session: Session; readonly only?: string };

/** By token or cookie; or by a share ticket in its header, which was made to give the recording (G8). @throws {AuthFault} */
async function readerOf(c: AppContext): Promise<Reader> {
  const request = c.req.raw;
  if (!request.headers.has("X-Stdio-Ticket")) return enter(c, "sandbox:connect");
  const [sandbox, name] = [c.req.param("sandbox") ?? "", nameOf(c)];
  const right = await attachRight(request, c.env, readEntrySettings(c.env));
  requireTarget(right.only, { sandbox, session: name, role: "viewer" }, "wrong_ticket");
  const { grant, tenant, asker } = right;
  if (grant.share === undefined) throw new AuthFault("wrong_ticket", "The ticket is for an attach");
  await requireUnrevoked(c.env, tenant, grant.subject, revocablePart(grant));
  const project = await openProject(c.env, asker, sandbox);
  const session = c.env.SESSION.getByName(await project.sessionKey(name));
  const shared = await session.sharedRecording(grant.share.id);
  if (shared === "revoked") throw new AuthFault("revoked", "The ticket was revoked, or is for an earlier process");
  if (shared === "none") throw new AuthFault("wrong_ticket", "The ticket gives no recording");
  const homeKey = await tenantKey(tenant);
  const pass = { connection: crypto.randomUUID(), address: addressKey(addressOf(request)), homeKey };
  const actor = {
    tenant: tenant.tenantValue,
    user: grant.subject,
    address: addressOf(request),
    ticket: grant.share.id,
  };
  return { session, only: shared.incarnation, who: { who: grant, project, actor, pass } };
}

/** @param incarnation As the caller asks for it. */
async function openFor(c: AppContext, { session, only }: Reader, incarnation: string | undefined) {
  if (only !== undefined && incarnation !== undefined && incarnation !== only) return absent("none");
  return RecordingReading.open(c.env, session, only ?? incarnation);
}

function answerOfRemoval(removal: Removal): ProgramAnswer {
  switch (removal.kind) {
    case "done":
      return { status: 204, body: {} };
    case "forbidden":
      return refused(403, "forbidden", "only an admin, or who started the session, removes its recording");
    case "held":
      return refused(409, "held", `the recording is held: ${removal.reason}`);
    default:
      return absent(removal.kind);
  }
}

function held(outcome: "done" | "none" | "removed"): ProgramAnswer {
  return outcome === "done" ? { status: 204, body: {} } : absent(outcome);
}

function nameOf(c: AppContext): string {
  return c.req.param("session") ?? "";
}
