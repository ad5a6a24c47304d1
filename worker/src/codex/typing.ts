// *process/write* (E5): a chunk is queued beside the process whole, and once for each id.

import { CodexError, type CodexParams, ERROR } from "sandbox-stdio/codex";
import { MAX_WRITE_BYTES } from "sandbox-stdio/programs";
import { CODEX } from "../attach/codex-spec.ts";
import type { ProgramAnswer } from "../programs/operations/call.ts";
import { call, requireAnswer, type Target } from "./process-calls.ts";

/** How long a full queue is waited for. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;
const PIECE_BYTES = Math.floor((MAX_WRITE_BYTES * 3) / 4);

export async function typeOnce(
  target: Target,
  name: string,
  { chunk, writeId }: CodexParams["process/write"],
): Promise<"accepted" | "stdinClosed" | "unknownProcess"> {
  const bytes = atob(chunk);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(bytes));
  const hash = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const deadlineMs = Date.now() + PATIENCE_MS;
  for (let at = 0; at === 0 || at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.slice(at, at + PIECE_BYTES);
    // Of all pieces the first makes sure that there is room for the others.
    const once = { id: `${at} ${writeId}`, hash, whole: bytes.length - at };
    const answer = await untilTaken(deadlineMs, () =>
      call(target, name, { type: "write", writer: CODEX, bytes: piece, once, waitMs: 0 }),
    );
    const { error } = answer.body;
    if (error === "exited" || error === "stdin_closed" || error === "lost") return "stdinClosed";
    if (answer.status === 404) return "unknownProcess";
    if (error === "other_write") throw new CodexError(ERROR.badParams, "another chunk was written with this writeId");
    requireAnswer(answer);
  }
  return "accepted";
}

/** Repeats what was refused for now: nothing of it is typed twice. */
async function untilTaken(deadlineMs: number, write: () => Promise<ProgramAnswer>): Promise<ProgramAnswer> {
  for (;;) {
    const answer = await write();
    const isFull = answer.status === 429 && answer.body.error === "too_much_input";
    if ((!isFull && answer.status !== 503) || Date.now() >= deadlineMs) return answer;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
