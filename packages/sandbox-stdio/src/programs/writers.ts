// Writers over HTTP (W2 to W4): each counts its own bytes, so that a repeated call types nothing twice. Decides only: the bytes
// go through a client's input queue like all others.

import { MAX_WRITE_BYTES } from "../wire/write-messages.ts";

/** Most writers of one process (W2). */
export const MAX_WRITERS = 64;

/** Progress of a writer's input, as an input queue has it. */
export interface WriterCount {
  /** The writer's count: everything before this is queued or refused. */
  readonly received: number;
  readonly taken: number;
  readonly eof: number | undefined;
}

/** State of the session for one writer. */
export type WriteState = {
  readonly hasExited: boolean;
  readonly isStdinClosed: boolean;
  readonly mayType: boolean;
  /** The keyboard's holder, for the refusal. */
  readonly holder: string;
};

export type WriteRequest = {
  /** Number of encoded bytes. */
  readonly length: number;
  readonly eof: boolean;
  /** Absent: the call is not repeatable. */
  readonly at?: number | undefined;
};

export type WritePlan =
  /** Queue all bytes, and the end of input after them if requested. */
  | { readonly kind: "type"; readonly from: number; readonly to: number; readonly eof: boolean }
  /** Type nothing: the call is a repetition. */
  | { readonly kind: "duplicate"; readonly from: number; readonly to: number }
  | { readonly kind: "refuse"; readonly code: "input_gap"; readonly expected: number }
  | { readonly kind: "refuse"; readonly code: "not_stdin_holder"; readonly holder: string }
  | { readonly kind: "refuse"; readonly code: "exited" | "stdin_closed" }
  | { readonly kind: "refuse"; readonly code: "input_too_long" };

/** Plans a *write*. A repetition is a `duplicate` even if the call would now be refused. */
export function planWrite(count: WriterCount, state: WriteState, { length, eof, at }: WriteRequest): WritePlan {
  const from = at ?? count.received;
  const isRepeatedEof = eof && length === 0 && at !== undefined && count.eof !== undefined && at === count.eof;
  if (from < count.received || isRepeatedEof) return { kind: "duplicate", from, to: count.received };
  if (state.hasExited) return { kind: "refuse", code: "exited" };
  if (state.isStdinClosed) return { kind: "refuse", code: "stdin_closed" };
  if (!state.mayType) return { kind: "refuse", code: "not_stdin_holder", holder: state.holder };
  if (from > count.received) return { kind: "refuse", code: "input_gap", expected: count.received };
  if (length > MAX_WRITE_BYTES) return { kind: "refuse", code: "input_too_long" };
  return { kind: "type", from, to: from + length, eof };
}

/** The receipt of a call that ends at `to`: 200 once its bytes have been taken, else 202 with the count so far (W2). */
export function receiptOf(
  count: WriterCount,
  to: number,
  storedUpTo = count.taken,
): { status: 200 } | { status: 202; taken: number } {
  const settled = Math.min(count.taken, storedUpTo);
  return settled >= to ? { status: 200 } : { status: 202, taken: settled };
}

/** Most ids remembered per process. */
const MAX_WRITE_IDS = 10_000;

/** Remembers a process's writes by the ids from their writers (E5), so that the same id is typed once. */
export class WriteIds {
  /** Hash of the written bytes by id, oldest first. */
  readonly #hashes = new Map<string, string>();

  look(id: string, hash: string): "new" | "known" | "other" {
    const known = this.#hashes.get(id);
    if (known === undefined) return "new";
    return known === hash ? "known" : "other";
  }

  /** The write has been typed. */
  note(id: string, hash: string): void {
    this.#hashes.set(id, hash);
    for (const oldest of this.#hashes.keys()) {
      if (this.#hashes.size <= MAX_WRITE_IDS) return;
      this.#hashes.delete(oldest);
    }
  }
}
