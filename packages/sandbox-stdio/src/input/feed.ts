// Input of a client without acknowledgements, before the session takes it: frames may be long, and the client can't be
// slowed. Keeps the order of arrival, and splits input into pieces that both hops accept.

import { MAX_FED_MESSAGES, MAX_STDIN_FRAME_BYTES, MAX_WAITING_INPUT_BYTES } from "../wire/constants.ts";
import type { ClientMessage } from "../wire/control.ts";
import { release } from "./release.ts";

/** Pieces up to half of this are gathered: a waiting piece costs more than its bytes. */
const GATHER_BYTES = 32 * 1024;

export type Fed =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** A message between two pieces of input, handled in that order. */
  | { readonly kind: "message"; readonly message: ClientMessage };

/** Waiting bytes: `from` is the first not yet handed on, `end` the end of the used part. */
type Waiting = { readonly kind: "bytes"; bytes: Uint8Array; from: number; end: number; readonly isGathered: boolean };

export class InputFeed {
  #waiting: (Waiting | Extract<Fed, { kind: "message" }>)[] = [];
  #bytes = 0;
  #messages = 0;
  /** Whether input is being handed on: input taken at once makes room for more, which the same loop hands on. */
  isPumping = false;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes ownership of `bytes`, and copies small ones. @returns Whether there was room; if not, the caller keeps them. */
  push(bytes: Uint8Array): boolean {
    if (this.#bytes + bytes.length > MAX_WAITING_INPUT_BYTES) return false;
    this.#bytes += bytes.length;
    if (bytes.length > GATHER_BYTES / 2) {
      this.#waiting.push({ kind: "bytes", bytes, from: 0, end: bytes.length, isGathered: false });
      return true;
    }
    const last = this.#waiting.at(-1);
    const isRoom = last?.kind === "bytes" && last.isGathered && last.end + bytes.length <= GATHER_BYTES;
    const into = isRoom ? last : this.#newGathered();
    into.bytes.set(bytes, into.end);
    into.end += bytes.length;
    return true;
  }

  /** @returns Whether there was room. */
  pushMessage(message: ClientMessage): boolean {
    if (this.#messages >= MAX_FED_MESSAGES) return false;
    this.#messages += 1;
    this.#waiting.push({ kind: "message", message });
    return true;
  }

  /** The next piece, at most one stdin frame long, in memory that the caller owns. Undefined if nothing waits. */
  shift(): Fed | undefined {
    const first = this.#waiting[0];
    if (first === undefined) return undefined;
    if (first.kind === "message") {
      this.#waiting.shift();
      this.#messages -= 1;
      return first;
    }
    const end = Math.min(first.from + MAX_STDIN_FRAME_BYTES, first.end);
    const isWhole = first.from === 0 && end === first.end;
    // The taker of a piece releases its memory, with all that shares it.
    const piece = first.bytes.subarray(first.from, end);
    // Not slice(): Bun's messages are Buffers, whose slice() shares memory.
    const bytes = isWhole ? piece : new Uint8Array(piece);
    this.#bytes -= bytes.length;
    first.from = end;
    if (end === first.end) {
      this.#waiting.shift();
      if (!isWhole) release(first.bytes);
    }
    return { kind: "bytes", bytes };
  }

  /** Drops all waiting input. */
  clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#messages = 0;
  }

  #newGathered(): Waiting {
    const gathered: Waiting = {
      kind: "bytes",
      bytes: new Uint8Array(GATHER_BYTES),
      from: 0,
      end: 0,
      isGathered: true,
    };
    this.#waiting.push(gathered);
    return gathered;
  }
}
