// Answers terminal queries where nobody is attached who would (K5): finds them in the output, and has the session's emulator
// answer exactly those. Costs next to nothing while there are none: the emulator is asked only when one has come.

import { type Answerer, type OutputLog, QueryFilter } from "@sbx/sandbox-stdio";
import type { SessionScreen } from "./screen/session-screen.ts";

export type AnswerPorts = {
  readonly log: OutputLog;
  readonly screen: Pick<SessionScreen, "answerFrom">;
  /** Told before anybody is sent the query's last byte: the bridge answers what ends before `offset`. */
  readonly announce: (offset: number) => void;
  /** What is to be typed. */
  readonly write: (answer: Uint8Array) => void;
};

/** A query that was begun before the bridge's turn is looked for so far back. */
const LOOK_BACK_BYTES = 4096;
const SCAN_BYTES = 65_536;
/** Queries that wait for their answers: more are not answered. */
const MAX_WAITING = 4096;
/** After the last query the emulator goes on for so long. */
const IDLE_MS = 1_000;

/** Shared by all sessions: it is used up within one call. */
const scratch = new Uint8Array(SCAN_BYTES);

export class Answers {
  readonly #at: AnswerPorts;
  /** The bridge answers from here on; undefined: somebody else does. */
  #from: number | undefined = 0;
  #scanned = 0;
  #filter = new QueryFilter((at) => this.#found(at));
  /** Where the last bytes of the queries stand that are to be answered, oldest first. */
  #waiting: number[] = [];
  #isAsking = false;
  #hasFound = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: AnswerPorts) {
    this.#at = ports;
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

  /** To be called after each commit to the log, before what was committed is sent on. */
  appended(): void {
    if (this.#from === undefined) return;
    const { log } = this.#at;
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
    if (this.#hasFound) this.#ask(this.#from);
    this.#hasFound = false;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#from = undefined;
    this.#waiting = [];
  }

  #found(at: number): boolean {
    if (this.#from !== undefined && at >= this.#from && this.#waiting.length < MAX_WAITING) {
      this.#waiting.push(at);
      this.#hasFound = true;
      this.#at.announce(at + 1);
    }
    return true;
  }

  #ask(from: number): void {
    if (!this.#isAsking) {
      this.#isAsking = true;
      this.#at.screen.answerFrom(from, (answer, offset) => this.#answered(answer, offset));
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#rest(), IDLE_MS);
    this.#timer.unref();
  }

  /** The emulator answers what ends at `offset`; where ESC \ ends it, the query counts as ended with the first of the two. */
  #answered(answer: Uint8Array, offset: number): void {
    this.#waiting = this.#waiting.filter((at) => at + 2 >= offset);
    if (this.#waiting.some((at) => at + 1 === offset || at + 2 === offset)) this.#at.write(answer);
  }

  #rest(): void {
    this.#isAsking = false;
    this.#waiting = [];
    this.#at.screen.answerFrom(undefined, () => undefined);
  }
}
