// The output of one process of a codex client's, told by notifications for as long as its connection lasts (E4).

import { Buffer } from "node:buffer";
import type { CodexProcess } from "../records/codex-store.ts";
import type { CodexConnection } from "./connection.ts";
import { call, type Target } from "./process-calls.ts";

const BATCH_BYTES = 256 * 1024;
const WAIT_MS = 50_000;
/** Before a session that could not be asked is asked again. */
const PAUSE_MS = 250;
const NOT_FOUND = 404;

/** *chunks*, as its answer's body says it. */
export type ChunksBody = {
  readonly isTty: boolean;
  readonly chunks: readonly (readonly [seq: number, stream: number, length: number])[];
  readonly last: number;
  readonly isEnded: boolean;
  readonly exitCode: number | null;
  readonly failure: string | null;
};

export type Told = { readonly seq: number; readonly stream: "stdout" | "stderr" | "pty"; readonly chunk: string };

/** Of a process that ended without a code of its own. */
const UNKNOWN_EXIT = 255;

/** @param told Chunks up to this number have been sent; `isClosed`: and its end. */
export async function tellOutput(
  target: Target,
  connection: CodexConnection,
  { processId, name, sent }: CodexProcess,
  told: (sent: number, isClosed: boolean) => void,
): Promise<void> {
  const reader = `${target.spec.who.name} (codex)`;
  let after = sent;
  while (!connection.isEnded) {
    await connection.room();
    const { status, body, bytes } = await call(target, name, {
      type: "chunks",
      ...{ after, maxBytes: BATCH_BYTES, waitMs: WAIT_MS, reader },
    });
    if (connection.isEnded) return;
    if (status !== 200 && status !== NOT_FOUND) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      continue;
    }
    // Of a session that was ended by somebody, nothing is known any more.
    const answer = status === NOT_FOUND ? FORGOTTEN : (body as unknown as ChunksBody);
    for (const chunk of chunksOf(answer, bytes)) connection.notify("process/output", { processId, ...chunk });
    const isNews = answer.last > after;
    after = Math.max(after, answer.last);
    if (answer.isEnded) {
      const exitCode = answer.exitCode ?? UNKNOWN_EXIT;
      connection.notify("process/exited", { processId, seq: after + 1, exitCode, sandboxDenied: false });
      connection.notify("process/closed", { processId, seq: after + 2 });
    }
    told(after, answer.isEnded);
    if (answer.isEnded) return;
    // What is on its way is not here yet: no reason to ask without a pause.
    if (!isNews) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

const FORGOTTEN: ChunksBody = {
  ...{ isTty: false, chunks: [], last: 0, isEnded: true, exitCode: null },
  failure: "the process is not kept any more",
};

/** The answer to *process/read*. */
export function readResult(answer: ChunksBody, bytes: Uint8Array | undefined): object {
  const { last, isEnded, exitCode, failure } = answer;
  return {
    chunks: chunksOf(answer, bytes),
    nextSeq: isEnded ? last + 3 : last + 1,
    exited: isEnded,
    exitCode: isEnded ? (exitCode ?? UNKNOWN_EXIT) : null,
    closed: isEnded,
    failure,
    sandboxDenied: false,
  };
}

export function forgottenResult(after: number): object {
  return readResult({ ...FORGOTTEN, last: after }, undefined);
}

function chunksOf({ chunks, isTty }: ChunksBody, bytes: Uint8Array = new Uint8Array(0)): Told[] {
  let at = 0;
  return chunks.map(([seq, stream, length]) => {
    const chunk = toBase64(bytes.subarray(at, at + length));
    at += length;
    return { seq, stream: isTty ? "pty" : stream === 2 ? "stderr" : "stdout", chunk };
  });
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
