// Answers terminal queries where nobody is attached who would (K5): finds them in the output, and types what the session's
// emulator answers to exactly those. Costs next to nothing while there are none: the emulator is hurried only when one has
// come. Which queries are its own and what their answers are it may learn in either order.

import { type Answerer, type OutputLog, QueryFilter } from "sandbox-stdio/core";
import type { Answer } from "../screen/emulator.ts";
import type { SessionScreen } from "../screen/session-screen.ts";

export type AnswerPorts = {
  readonly log: OutputLog;
  readonly screen: Pick<SessionScreen, "parseTo">;
  /** Told before any client is sent the query's last byte: the bridge answers queries that end before `offset`. */
  readonly announce: (offset: number) => void;
  /** Types the answer. */
  readonly write: (answer: Uint8Array) => void;
};

/** A query that was begun before the bridge's turn is looked for so far back. */
const LOOK_BACK_BYTES = 4096;
const SCAN_BYTES = 65_536;
/** Queries that wait for their answers: more are not answered. */
const MAX_WAITING = 4096;
/** Answers that wait for their queries to be the bridge's: most never are. */
const MAX_UNCLAIMED = 4096;

const encoder = new TextEncoder();
/** Shared by all sessions: it is used up within one call. */
const scratch = new Uint8Array(SCAN_BYTES);

export class Answers {
  readonly #ports: AnswerPorts;
  /** The bridge answers from here on; undefined: somebody else does. */
  #from: number | undefined = 0;
  #scanned = 0;
  #filter = new QueryFilter((at) => this.#found(at));
  /** The offsets of the last bytes of the queries that are to be answered. */
  readonly #waiting = new Set<number>();
  /** What the emulator has answered that is not known to be the bridge's, by where the query ends; oldest first. */
  readonly #unclaimed = new Map<number, string>();

  constructor(ports: AnswerPorts) {
    this.#ports = ports;
  }

  /** Who answers from now on. What came before stays whose it was. */
  answererIs({ id, offset }: Answerer): void {
    if (id !== "") {
      this.#from = undefined;
      return;
    }
    this.#from = offset;
    this.#scanned = Math.max(0, offset - LOOK_BACK_BYTES);
    this.#filter.flush();
    this.appended();
  }

  /** To be called after each commit to the log, before anybody is sent what was committed. */
  appended(): void {
    if (this.#from === undefined) return;
    const { log } = this.#ports;
    if (this.#scanned < log.startOffset) {
      this.#filter.flush();
      this.#scanned = log.startOffset;
    }
    while (this.#scanned < log.endOffset) {
      const length = Math.min(SCAN_BYTES, log.endOffset - this.#scanned);
      log.copy(this.#scanned, length, scratch, 0);
      this.#filter.filter(scratch.subarray(0, length), this.#scanned);
      this.#scanned += length;
    }
  }

  /**
   * The emulator has got to `offset`, and answers so what it was asked on the way. Where ESC \ ends a query, it answers at the
   * end of the two, and the query has ended with the first.
   */
  parsed(answers: readonly Answer[], offset: number): void {
    for (const { offset: end, text } of answers) {
      if (this.#waiting.has(end - 1) || this.#waiting.has(end - 2)) this.#write(text);
      else this.#unclaimed.set(end, (this.#unclaimed.get(end) ?? "") + text);
    }
    for (const end of this.#unclaimed.keys()) {
      if (end > this.#ports.log.startOffset && this.#unclaimed.size <= MAX_UNCLAIMED) break;
      this.#unclaimed.delete(end);
    }
    // To the others it answers nothing.
    for (const at of this.#waiting) if (at + 1 < offset) this.#waiting.delete(at);
  }

  close(): void {
    this.#from = undefined;
    this.#waiting.clear();
    this.#unclaimed.clear();
  }

  #found(at: number): boolean {
    if (this.#from === undefined || at < this.#from || this.#waiting.size >= MAX_WAITING) return true;
    this.#ports.announce(at + 1);
    const end = this.#unclaimed.has(at + 1) ? at + 1 : at + 2;
    const answer = this.#unclaimed.get(end);
    if (answer === undefined) {
      this.#waiting.add(at);
      this.#ports.screen.parseTo(at + 1);
    } else {
      this.#unclaimed.delete(end);
      this.#write(answer);
    }
    return true;
  }

  #write(answer: string): void {
    this.#ports.write(encoder.encode(answer));
  }
}
