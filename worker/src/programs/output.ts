// *read* over HTTP (D1 to D6): as JSON, as bytes, or as a stream of events.

import type { sessionSchemas } from "@sbx/api";
import { isLossy, type OutputFormat, outputText } from "sandbox-stdio/programs";
import type * as z from "zod";
import { base64Of } from "../base/base64url.ts";
import { ask, askUntilAnswered, type Target } from "./ask.ts";
import { type EventPlace, eventStream, placeOf } from "./events.ts";
import { type Operation, type ProgramAnswer, type ProgramCall, refused } from "./operations/call.ts";
import { QUIET_MS, respond, respondInTime } from "./respond.ts";

type Query = z.output<typeof sessionSchemas.readQuery>;

/** The parts of a request that reading needs. */
export type Reading = {
  readonly target: Target;
  readonly callOf: (operation: Operation, incarnation?: string) => ProgramCall;
  /** Lets a call in that waits or streams. @returns The refusal, if there is one. */
  readonly enter: () => Promise<ProgramAnswer | undefined>;
  readonly leave: () => void;
  readonly abandon: () => void;
  readonly waitUntil: (promise: Promise<unknown>) => void;
};

export async function readOutputRoute(request: Request, query: Query, reading: Reading): Promise<Response> {
  const accept = request.headers.get("Accept") ?? "";
  if (accept.includes("text/event-stream")) return streamed(request, query, reading);
  const isBinary = accept.includes("application/octet-stream");
  const { target, callOf, waitUntil, enter, leave, abandon } = reading;
  const { incarnation, format, since, agoMs, times, ...range } = query;
  const hasTimes = times === 1 && !isBinary;
  const agoSinceMs = agoMs === undefined ? undefined : Date.now() - agoMs;
  const sinceMs = since === undefined ? agoSinceMs : Date.parse(since);
  if (query.waitMs > 0) {
    const refusal = await enter();
    if (refusal !== undefined) return respond(refusal);
  }
  const deadlineMs = Date.now() + query.waitMs;
  const again = () => {
    const waitMs = Math.max(0, deadlineMs - Date.now());
    const how = { sinceMs, waitMs, hasTimes, format: isBinary ? "base64" : format } as const;
    return callOf({ type: "read", ...range, ...how }, incarnation);
  };
  const answer = askUntilAnswered(target, again, query.waitMs).finally(leave);
  if (isBinary) return binary(await answer);
  return respondInTime(
    answer.then((answered) => withOutput(answered, format)),
    abandon,
    waitUntil,
  );
}

function withOutput(answer: ProgramAnswer, format: OutputFormat): ProgramAnswer {
  if (answer.status !== 200) return answer;
  const bytes = answer.bytes ?? new Uint8Array(0);
  const output = format === "base64" ? base64Of(bytes) : outputText(bytes, Number(answer.body.from), format);
  const lossy = format !== "base64" && isLossy(output, bytes) ? { lossy: true } : {};
  return { ...answer, body: { ...answer.body, output, ...lossy } };
}

function binary(answer: ProgramAnswer): Response {
  if (answer.status !== 200) return respond(answer);
  const headers = new Headers({ "Content-Type": "application/octet-stream", "Cache-Control": "no-store" });
  for (const [name, value] of Object.entries(answer.body)) {
    if (typeof value !== "object" || value === null) headers.set(headerOf(name), String(value));
    else for (const [part, one] of Object.entries(value)) headers.set(headerOf(`${name}-${part}`), String(one));
  }
  return new Response(answer.bytes ?? null, { headers });
}

/** `exit.code` is `X-Stdio-Exit-Code`. */
function headerOf(name: string): string {
  return `X-Stdio-${name}`;
}

async function streamed(request: Request, query: Query, reading: Reading): Promise<Response> {
  const { target, callOf, waitUntil, enter, leave, abandon } = reading;
  if (query.since !== undefined || query.agoMs !== undefined) {
    return respond(
      refused(400, "bad_request", "a stream begins at an offset: read once with a time, and stream from there"),
    );
  }
  const last = request.headers.get("Last-Event-ID");
  const place: EventPlace | undefined = last === null ? undefined : placeOf(last);
  if (last !== null && place === undefined) {
    return respond(refused(400, "bad_request", "Last-Event-ID is not one of this stream's"));
  }
  const incarnation = place?.incarnation ?? query.incarnation;
  const located = await ask(target, callOf({ type: "locate" }, incarnation));
  if (located.status !== 200) return respond(located);
  const {
    state,
    end,
    start,
    incarnation: current,
  } = located.body as {
    state: string;
    end: number;
    start: number;
    incarnation: string;
  };
  if (state !== "running" && place?.next === end + 1) return new Response(null, { status: 204 });
  const asked = place?.next ?? query.from ?? (query.tail === undefined ? start : Math.max(start, end - query.tail));
  if (asked > end) return respond(refused(400, "bad_offset", `the output ends at ${end}`, { end }));
  const { maxBytes, stream, format, to } = query;
  if (place !== undefined && to !== undefined && asked >= to) return new Response(null, { status: 204 });
  const refusal = await enter();
  if (refusal !== undefined) return respond(refusal);
  const read = (from: number, attentionAfter: number) =>
    askUntilAnswered(target, () =>
      callOf({ type: "read", from, to, maxBytes, stream, format, waitMs: QUIET_MS, attentionAfter }, current),
    );
  const ended = () => {
    abandon();
    leave();
  };
  return eventStream(asked, to, end, format, read, ended, waitUntil);
}
