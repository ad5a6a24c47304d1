// `logs`: prints a session's output, raw or as lines of JSON with offsets and times.

import type { ReadAnswer, SandboxSession } from "sandbox-stdio/client";
import { defined } from "sandbox-stdio/core";
import type { LogsCommand, Since } from "../args/cli-command.ts";
import type { Outcome } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { notifyPerson, Printer } from "../base/print.ts";
import { withSlowNotice } from "../base/slow-notice.ts";
import { apiCall, follow, followedTo, sandboxOf } from "./programs.ts";

const READ_BYTES = 1_048_576;
/** Assumed length of a line when searching the last lines. */
const LINE_BYTES = 200;

/** Prints the log from the requested start, and follows it. */
export async function runLogs(command: LogsCommand, token: () => Promise<string>): Promise<Outcome> {
  const printer = new Printer();
  const session = sandboxOf(command, token).session(command.session);
  return apiCall(async () => {
    // Stay with one process: another of the same name has its own offsets.
    let { from, incarnation }: Start = command.since === undefined ? {} : await startOf(session, command.since);
    const last = command.tail === undefined ? undefined : await lastLines(session, command.tail, { from, incarnation });
    if (last !== undefined) ({ incarnation } = last);
    if (command.isJson) {
      if (last !== undefined) from = last.gone > 0 ? undefined : last.next - last.bytes.length;
      return printLines(printer, session, { from, incarnation }, command.follows);
    }
    if (last !== undefined) {
      await printer.print(await wholeLines(printer, last.gone, last.bytes));
      from = last.next;
    }
    for (;;) {
      const answer = await soon(
        session.read({ ...defined({ from, incarnation }), maxBytes: READ_BYTES, format: "base64" }),
      );
      const bytes = Buffer.from(answer.output, "base64");
      if (from === undefined) await printer.print(await wholeLines(printer, answer.gap?.to ?? answer.from, bytes));
      else {
        if (answer.gap !== undefined)
          await printer.notify(`${answer.gap.to - answer.gap.from} bytes are no longer available`);
        await printer.print(bytes);
      }
      ({ next: from, incarnation } = answer);
      if (answer.next >= answer.end || printer.isBroken) break;
    }
    return command.follows && !printer.isBroken
      ? follow(printer, session, { from, incarnation }, false)
      : printer.end();
  });
}

const soon = <T>(work: Promise<T>) => withSlowNotice("waiting for the server", work, notifyPerson);

/** The bytes from the first complete line, with a notice if the beginning of the log is gone. */
async function wholeLines(printer: Printer, start: number, bytes: Buffer): Promise<Buffer> {
  if (start === 0) return bytes;
  await printer.notify(`the first ${start} bytes are no longer available; starting at the next line`);
  return bytes.subarray(firstWhole(bytes));
}

/** The start of the first complete line; 0 without a line end. */
const firstWhole = (bytes: Buffer) => bytes.indexOf(0x0a) + 1;

/** Where to begin, and in which process. */
type Start = { readonly from?: number | undefined; readonly incarnation?: string | undefined };

async function startOf(session: SandboxSession, since: Since): Promise<Start> {
  if ("offset" in since) return { from: since.offset };
  // The API's minimum: only the offset matters.
  const { from, gap, incarnation } = await soon(session.read({ ...since, maxBytes: 16, format: "base64" }));
  return { from: gap?.from ?? from, incarnation };
}

/** `gone`: the first available offset, if fewer lines are available than requested. */
type Last = {
  readonly bytes: Buffer;
  readonly next: number;
  readonly gone: number;
  readonly incarnation: string;
};

async function lastLines(session: SandboxSession, lines: number, start: Start): Promise<Last> {
  const { from: since = 0 } = start;
  let { incarnation } = start;
  for (let tail = Math.max(4_096, lines * LINE_BYTES); ; tail *= 4) {
    const maxBytes = Math.min(READ_BYTES, tail);
    const answer = await soon(
      session.read({ ...defined({ incarnation }), tail: maxBytes, maxBytes, format: "base64" }),
    );
    incarnation = answer.incarnation;
    const all = Buffer.from(answer.output, "base64");
    const held = all.subarray(Math.max(0, since - answer.from));
    const first = startOfLastLines(held, lines);
    if (first > 0 || answer.from <= since)
      return { bytes: held.subarray(first), next: answer.next, gone: 0, incarnation };
    if (maxBytes === READ_BYTES) return lastLinesBefore(session, lines, since, answer, held);
  }
}

/** Continues {@link lastLines} backwards, one answer at a time, if the lines exceed one. */
async function lastLinesBefore(
  session: SandboxSession,
  lines: number,
  since: number,
  { incarnation, from: first, next }: ReadAnswer,
  last: Buffer,
): Promise<Last> {
  let bytes = last;
  for (let to = first; ; ) {
    const range = { incarnation, from: Math.max(since, to - READ_BYTES), to };
    const answer = await soon(session.read({ ...range, maxBytes: READ_BYTES, format: "base64" }));
    bytes = Buffer.concat([Buffer.from(answer.output, "base64"), bytes]);
    const start = startOfLastLines(bytes, lines);
    if (start > 0) return { bytes: bytes.subarray(start), next, gone: 0, incarnation };
    // Everything before is gone by now.
    if (answer.gap !== undefined) return { bytes, next, gone: Math.min(to, answer.from), incarnation };
    if (answer.from <= since) return { bytes, next, gone: 0, incarnation };
    to = answer.from;
  }
}

/** The start of the last N lines; 0 if there are no more than that. */
function startOfLastLines(bytes: Uint8Array, lines: number): number {
  if (lines === 0) return bytes.length;
  // An incomplete line counts.
  let at = bytes.length - (bytes.at(-1) === 0x0a ? 1 : 0);
  for (let left = lines; left > 0; left -= 1) {
    at = bytes.lastIndexOf(0x0a, at - 1);
    if (at < 0) return 0;
    if (at === 0) return left === 1 ? 1 : 0;
  }
  return at + 1;
}

/** Prints lines of JSON: stored output with the server's times, new output with local arrival times. */
async function printLines(printer: Printer, session: SandboxSession, start: Start, follows: boolean): Promise<Outcome> {
  const lines = new LogLines();
  const say = async (values: readonly object[]) => {
    if (values.length > 0) await printer.print(values.map((one) => `${safeJson(one)}\n`).join(""));
  };
  let { from, incarnation } = start;
  let code = 0;
  for (;;) {
    const options = { maxBytes: READ_BYTES, format: "base64", times: 1 } as const;
    const answer = await soon(session.read({ ...defined({ from, incarnation }), ...options }));
    const { gap, times = [] } = answer;
    if (gap !== undefined && from !== undefined) await say([...lines.rest(), { gap }]);
    let bytes = Buffer.from(answer.output, "base64");
    let at = answer.from;
    if (from === undefined && at > 0) {
      await say([{ gap: { from: 0, to: at } }]);
      const cut = firstWhole(bytes);
      at += cut;
      bytes = bytes.subarray(cut);
    }
    await say(lines.add(bytes, at, times));
    ({ next: from, incarnation } = answer);
    if (answer.next >= answer.end || printer.isBroken) break;
  }
  if (follows && !printer.isBroken) {
    for await (const event of session.follow({ from, incarnation, format: "base64" })) {
      if (event.type === "gap") await say([...lines.rest(), { gap: { from: event.from, to: event.to } }]);
      if (event.type === "output") {
        const times = [{ offset: event.from, at: new Date().toISOString() }];
        await say(lines.add(Buffer.from(event.output, "base64"), event.from, times));
      }
      if (event.type === "exit") code = await followedTo(event.state, printer);
      if (printer.isBroken) break;
    }
  }
  await say(lines.rest());
  return printer.end(code);
}

/** Bytes from `offset` up to the next entry's arrived at this time. */
type OutputTime = { readonly offset: number; readonly at: string };

/** `next`: offset of the next line. `base64` replaces `text` if the bytes are not UTF-8. */
type LogLine = { readonly offset: number; readonly next: number; readonly time?: string } & (
  | { readonly text: string }
  | { readonly base64: string }
);

/** Longer lines are split. */
const MAX_LINE = 1_048_576;
const [LF, CR] = [0x0a, 0x0d];

/** Splits output into lines, each with its offset and the arrival time of its first byte. */
export class LogLines {
  #rest = Buffer.alloc(0);
  #offset = 0;
  /** Arrival time of the incomplete line's first byte. */
  #time: string | undefined;

  /** @param offset Of the first byte, which follows the previous ones. @returns The complete lines. */
  add(bytes: Buffer, offset: number, times: readonly OutputTime[]): LogLine[] {
    const lines: LogLine[] = [];
    if (this.#rest.length === 0) this.#offset = offset;
    let at = 0;
    while (at < bytes.length) {
      const start = offset + at;
      if (this.#rest.length === 0) this.#time = times.findLast((one) => one.offset <= start)?.at;
      const feed = bytes.indexOf(LF, at);
      const end = feed < 0 ? bytes.length : feed + 1;
      this.#rest = Buffer.concat([this.#rest, bytes.subarray(at, end)]);
      at = end;
      if (feed >= 0 || this.#rest.length >= MAX_LINE) lines.push(...this.rest());
    }
    return lines;
  }

  /** The incomplete line, when nothing follows. */
  rest(): LogLine[] {
    const [bytes, offset, time] = [this.#rest, this.#offset, this.#time];
    if (bytes.length === 0) return [];
    this.#rest = Buffer.alloc(0);
    this.#offset = offset + bytes.length;
    const target = { offset, next: this.#offset, ...defined({ time }) };
    return [{ ...target, ...contentOf(withoutEnd(bytes)) }];
  }
}

function withoutEnd(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== LF) return bytes;
  return bytes.subarray(0, bytes.at(-2) === CR ? -2 : -1);
}

function contentOf(bytes: Buffer): { text: string } | { base64: string } {
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? { text } : { base64: bytes.toString("base64") };
}
