// *run* (U1 to U4), once its process is there: waits for its end, and answers with what it has said.

import { defined } from "sandbox-stdio/core";
import { decodeUtf8, headTail, isLossy } from "sandbox-stdio/programs";
import { type Operation, type ProgramAnswer, refused } from "./call.ts";
import { type Reached, stateOf } from "./reached.ts";
import { until } from "./until.ts";
import type { Write } from "./write.ts";

type Run = Extract<Operation, { type: "run" }>;

/** Bytes of its input in one write. */
const PIECE_BYTES = 48 * 1024;
/** Before more is typed to a process that does not read. */
const FULL_PAUSE_MS = 100;

/** @param type Types the run's input, where the process was not started with it. */
export async function run(
  reached: Reached,
  session: string,
  { process, waitMs, maxBytes }: Run,
  signal: AbortSignal,
  type?: (write: Write) => Promise<ProgramAnswer>,
): Promise<ProgramAnswer> {
  const deadlineMs = Date.now() + waitMs;
  let refusal: ProgramAnswer | undefined;
  const given = new AbortController();
  const typing = type && typeInput(atob(process.stdin), deadlineMs, AbortSignal.any([signal, given.signal]), type);
  void typing?.then((answer) => {
    refusal = answer;
    if (answer !== undefined) given.abort();
  });
  await until(reached, deadlineMs, AbortSignal.any([signal, given.signal]), () => reached.state !== "running");
  given.abort();
  await typing;
  if (refusal !== undefined) return refusal;
  if (reached.isStale) return refused(503, "unavailable", "the session can't be reached just now: ask again");
  const { output, stdout, stderr, from, next, end, truncated, gap } = headTail(reached.log, 0, maxBytes);
  const told = Object.entries(reached.isTty ? { output } : { output, stdout, stderr }).map(([name, bytes]) => {
    const text = decodeUtf8(bytes);
    return { name, text, lossy: isLossy(text, bytes) };
  });
  const body = {
    session,
    incarnation: reached.incarnation,
    ...stateOf(reached),
    from,
    next,
    end,
    ...Object.fromEntries(told.map(({ name, text }) => [name, text])),
    ...(told.some(({ lossy }) => lossy) ? { lossy: true } : {}),
    ...defined({ truncated, gap }),
  };
  return { status: 200, body };
}

/**
 * U4: the input of writer `run` from 0, its end included, as far as it was not typed before and is taken in time.
 * @param bytes Latin-1.
 * @returns Why none of it may be typed.
 */
async function typeInput(
  bytes: string,
  deadlineMs: number,
  signal: AbortSignal,
  type: (write: Write) => Promise<ProgramAnswer>,
): Promise<ProgramAnswer | undefined> {
  for (let at = 0; ; ) {
    const piece = bytes.slice(at, at + PIECE_BYTES);
    const eof = at + piece.length === bytes.length;
    const waitMs = Math.max(0, deadlineMs - Date.now());
    const answer = await type({ type: "write", writer: "run", at, bytes: piece, eof, waitMs });
    if (answer.status === 429 && answer.body.error === "too_much_input") {
      if (signal.aborted) return undefined;
      await new Promise((resolve) => setTimeout(resolve, FULL_PAUSE_MS));
      continue;
    }
    // The answer with its output also reports that it takes no input, or has ended.
    if (answer.body.error === "exited" || answer.body.error === "stdin_closed") return undefined;
    if (answer.status >= 400) return answer;
    const isAll = eof && (answer.body.duplicate !== true || piece === "");
    at = Number(answer.body.to);
    if (isAll || at > bytes.length || signal.aborted) return undefined;
  }
}
