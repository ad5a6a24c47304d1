// The writers over HTTP (W2 to W4): each counts its own bytes, so that a call can be repeated and types nothing twice.
// Decides only: the bytes go the way of every client's input, through its queue.

import { MAX_WRITE_BYTES } from "../wire/write-messages.ts";

/** Writers that one process has at most (W2). */
export const MAX_WRITERS = 64;

export type WriterName = {
  readonly incarnation: string;
  readonly issuer: string;
  readonly subject: string;
  /** The caller's own choice: `api` by default, `run` for the input of *run*. */
  readonly writer: string;
};

/** How far a writer's input has come: an input queue has these. */
export interface WriterCount {
  /** The writer's count: everything before this is queued or refused. */
  readonly received: number;
  readonly taken: number;
  readonly eof: number | undefined;
}

export type WriterResult<T> =
  | { readonly ok: true; readonly writer: T }
  | { readonly ok: false; readonly code: "too_many_writers" };

/** The writers of one process, for as long as the process is kept. */
export class Writers<T extends WriterCount> {
  readonly #incarnation: string;
  readonly #make: (name: WriterName) => T;
  readonly #writers = new Map<string, T>();

  constructor(incarnation: string, make: (name: WriterName) => T) {
    this.#incarnation = incarnation;
    this.#make = make;
  }

  get size(): number {
    return this.#writers.size;
  }

  /** A writer that has written before. */
  find(name: WriterName): T | undefined {
    return this.#writers.get(this.#key(name));
  }

  /** The writer of this name, new if need be. */
  admit(name: WriterName): WriterResult<T> {
    const key = this.#key(name);
    let writer = this.#writers.get(key);
    if (writer === undefined) {
      if (this.#writers.size >= MAX_WRITERS) return { ok: false, code: "too_many_writers" };
      writer = this.#make(name);
      this.#writers.set(key, writer);
    }
    return { ok: true, writer };
  }

  #key({ incarnation, issuer, subject, writer }: WriterName): string {
    if (incarnation !== this.#incarnation)
      throw new RangeError(`Cannot write to ${incarnation}: this is ${this.#incarnation}`);
    // JSON, so that no name can be made to look like two.
    return JSON.stringify([issuer, subject, writer]);
  }
}

/** Where the session stands for one writer. */
export type WriteState = {
  readonly hasExited: boolean;
  readonly isStdinClosed: boolean;
  readonly mayType: boolean;
  /** The holder of the keyboard, for the refusal. */
  readonly holder: string;
};

export type WriteRequest = {
  /** Encoded bytes. */
  readonly length: number;
  readonly eof: boolean;
  /** Absent: the call is not repeatable. */
  readonly at?: number | undefined;
};

export type WritePlan =
  /** Queue the bytes whole, and the end of input behind them if it was asked for. */
  | { readonly kind: "type"; readonly from: number; readonly to: number; readonly eof: boolean }
  /** Type nothing: this call has been here before. */
  | { readonly kind: "duplicate"; readonly from: number; readonly to: number }
  | { readonly kind: "refuse"; readonly code: "input_gap"; readonly expected: number }
  | { readonly kind: "refuse"; readonly code: "not_stdin_holder"; readonly holder: string }
  | { readonly kind: "refuse"; readonly code: "exited" | "stdin_closed" }
  | { readonly kind: "refuse"; readonly code: "input_too_long" };

/** The plan for a call to *write*. A repetition is a `duplicate` even if the call itself would now be refused. */
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

/** The receipt of a call that ends at `to`: 200 once the bytes have been taken, else 202 with how far they have (W2). */
export function receiptOf(
  count: WriterCount,
  to: number,
  storedUpTo = count.taken,
): { status: 200 } | { status: 202; taken: number } {
  const settled = Math.min(count.taken, storedUpTo);
  return settled >= to ? { status: 200 } : { status: 202, taken: settled };
}

/**
 * Where the input of *run* goes on (U4): its writer counts from 0, and a repeated request has the same bytes.
 * @returns The index of the first byte that has not been received.
 */
export function continuesAt(count: WriterCount, length: number): number {
  return Math.min(count.received, length);
}
