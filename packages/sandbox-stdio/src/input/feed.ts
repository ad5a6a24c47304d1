// Input of a client without acknowledgements that the session has not taken in yet: its frames may be long, and nothing
// tells it to wait. Kept in the order in which it came, and handed on in pieces that both hops take.

import { MAX_FED_MESSAGES, MAX_STDIN_FRAME_BYTES, MAX_WAITING_INPUT_BYTES } from "../wire/constants.ts";
import type { ClientMessage } from "../wire/control.ts";
import { release } from "./release.ts";

/** Pieces up to half of this are put together: each that waits alone costs more than its bytes. */
const GATHER_BYTES = 32 * 1024;

export type Fed =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }
  /** Said between two pieces of input, and followed between them. */
  | { readonly kind: "message"; readonly message: ClientMessage };

/** Bytes that wait; `from` is the first that was not handed on. Those up to `end` are in use. */
type Waiting = { readonly kind: "bytes"; bytes: Uint8Array; from: number; end: number; readonly isGathered: boolean };

export class InputFeed {
  #waiting: (Waiting | Extract<Fed, { kind: "message" }>)[] = [];
  #bytes = 0;
  #messages = 0;
  /** Whether it is being handed on: input that is taken at once makes room for more, which the same loop hands on. */
  isPumping = false;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `bytes` are the feed's from here on, which copies few. @returns Whether there was room; if not, they stay the caller's. */
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

  /** @returns Whether there was room for it. */
  pushMessage(message: ClientMessage): boolean {
    if (this.#messages >= MAX_FED_MESSAGES) return false;
    this.#messages += 1;
    this.#waiting.push({ kind: "message", message });
    return true;
  }

  /** The next piece, at most a frame of stdin long; its memory is its own. Undefined: nothing waits. */
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
    // The taker of a piece gives its memory back, with all that shares it.
    const piece = first.bytes.subarray(first.from, end);
    // Not slice(): that of a Buffer, which Bun's messages are, shares its memory.
    const bytes = isWhole ? piece : new Uint8Array(piece);
    this.#bytes -= bytes.length;
    first.from = end;
    if (end === first.end) {
      this.#waiting.shift();
      if (!isWhole) release(first.bytes);
    }
    return { kind: "bytes", bytes };
  }

  /** Nothing of it will be taken any more. */
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
