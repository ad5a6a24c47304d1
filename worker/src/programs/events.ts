// Output as server-sent events (D6). A stream is one read after the other, each from where the last one ended: it goes on over
// a restart of the session's object, holds nothing back, and gets gaps where its reader is too slow.

import { type Attention, isLossy, type OutputFormat, outputText } from "sandbox-stdio/programs";
import { base64Of } from "../base/base64url.ts";
import type { ProgramAnswer } from "./operations/call.ts";

export const EVENT_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

/** A comment, where there is nothing to say (R4). */
export const QUIET = ": \n\n";

/** The place where a stream goes on, from its events' ids: `INCARNATION.NEXT`. The exit counts as one behind the last byte. */
export type EventPlace = { readonly incarnation: string; readonly next: number };

export function placeOf(id: string): EventPlace | undefined {
  const [, incarnation, next] = /^(.{1,128})\.(\d{1,16})$/.exec(id) ?? [];
  return incarnation === undefined ? undefined : { incarnation, next: Number(next) };
}

type ReadBody = {
  readonly incarnation: string;
  readonly state: "running" | "exited" | "lost";
  readonly exit?: { readonly code: number; readonly signal?: string };
  readonly from: number;
  readonly next: number;
  readonly end: number;
  readonly gap?: { readonly from: number; readonly to: number };
  readonly attentions?: readonly Attention[];
};

/** Says more of a stream; resolves once its reader takes it. */
export type Say = (events: string) => Promise<void>;

/** @param ended Called once, however the stream ends. */
export function sayEvents(
  pump: (say: Say) => Promise<void>,
  ended: () => void,
  waitUntil: (promise: Promise<unknown>) => void,
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  // Its reader has gone: what is under way is given up.
  writer.closed.catch(() => undefined).finally(ended);
  const say: Say = (events) => writer.write(new TextEncoder().encode(events));
  waitUntil(
    // Headers are not sent before the first byte.
    say(QUIET)
      .then(() => pump(say))
      .then(() => writer.close())
      .catch(() => writer.abort().catch(() => undefined)),
  );
  return new Response(readable, { headers: EVENT_HEADERS });
}

/**
 * @param to The offset where the stream ends; absent: with the process.
 * @param live The stream tells of attention behind this offset only, never of a replay (N1).
 * @param read Reads on from an offset, with the attention behind another; waits for a while if there is nothing new.
 * @param ended Called once, however the stream ends.
 */
export function eventStream(
  start: number,
  to: number | undefined,
  live: number,
  format: OutputFormat,
  read: (from: number, attentionAfter: number) => Promise<ProgramAnswer>,
  ended: () => void,
  waitUntil: (promise: Promise<unknown>) => void,
): Response {
  const pump = async (say: Say) => {
    let attended = live;
    for (let from = start; ; ) {
      const answer = await read(from, attended);
      if (answer.status !== 200) return;
      // An answer of 200 to a read has this shape.
      const body = answer.body as ReadBody;
      await say(eventsOf(body, answer.bytes ?? new Uint8Array(0), format));
      from = body.next;
      for (const { offset } of body.attentions ?? []) attended = Math.max(attended, offset);
      if (body.state !== "running" && from >= body.end) return say(exitEvent(body));
      if (to !== undefined && from >= to) return;
    }
  };
  return sayEvents(pump, ended, waitUntil);
}

function eventsOf(
  { incarnation, from, next, gap, attentions = [] }: ReadBody,
  bytes: Uint8Array,
  format: OutputFormat,
): string {
  let events = gap === undefined ? "" : event("gap", `${incarnation}.${gap.to}`, gap);
  if (next > from) {
    const output = format === "base64" ? base64Of(bytes) : outputText(bytes, from, format);
    const lossy = format !== "base64" && isLossy(output, bytes) ? { lossy: true } : {};
    events += event("output", `${incarnation}.${next}`, { from, next, output, ...lossy });
  }
  // Without an id: a reader that comes back goes on behind the output that it has.
  for (const attention of attentions) {
    events += `event: attention\ndata: ${JSON.stringify({ type: "attention", ...attention })}\n\n`;
  }
  return events || QUIET;
}

function exitEvent({ incarnation, state, exit, end }: ReadBody): string {
  return event("exit", `${incarnation}.${end + 1}`, { state, ...exit, offset: end });
}

function event(name: string, id: string, data: object): string {
  return `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}
