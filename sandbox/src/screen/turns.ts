// Chooses the output to parse next in the worker: each session in turn, for a few milliseconds, however much it has printed and
// however long that takes. Knows nothing of threads.

import { Slices } from "sandbox-stdio/core";
import { type Answer, Emulator } from "./emulator.ts";
import type { FromWorker, SessionMessage } from "./messages.ts";
import type { Watch } from "./watch.ts";

const TURN_MS = 8;
/** A batch that takes longer than this is given up, and the screen with it: no snapshot would come in time. */
const MAX_BATCH_MS = 2_000;

type Open = Extract<SessionMessage, { readonly kind: "open" }>;
type Write = Extract<SessionMessage, { readonly kind: "write" }>;

/** One session's: its emulator, and its messages. */
type Seat = {
  readonly waiting: SessionMessage[];
  readonly slices: Slices;
  emulator: Emulator | undefined;
  /** Of the write that is first in `waiting`: how far it is parsed, its cost and its answers. */
  parsed: number;
  ms: number;
  answers: Answer[];
};

export class Turns {
  readonly #watch: Watch;
  readonly #now: () => number;
  readonly #say: (message: FromWorker) => void;
  readonly #seats = new Map<number, Seat>();
  /** Sessions with something to do, whose turn comes next first. */
  readonly #queue: number[] = [];
  /** One that a session has given up, for the next that needs one: most have seen no more than a prompt, and each takes 150 KB. */
  #spare: Emulator | undefined;

  constructor(watch: Watch, now: () => number, say: (message: FromWorker) => void) {
    this.#watch = watch;
    this.#now = now;
    this.#say = say;
  }

  add(message: SessionMessage): void {
    const { id, kind } = message;
    if (kind === "close") {
      this.#leave(id, 1);
      return;
    }
    let seat = this.#seats.get(id);
    if (seat === undefined && kind !== "open") {
      // Of a screen that was given up: the bridge did not know yet.
      this.#watch.finish(1);
      return;
    }
    if (seat === undefined) {
      seat = { waiting: [], slices: new Slices(), emulator: undefined, parsed: 0, ms: 0, answers: [] };
      this.#seats.set(id, seat);
    }
    seat.waiting.push(message);
    if (seat.waiting.length === 1) this.#queue.push(id);
  }

  /** Works for the session whose turn it is. @returns Whether there is more to do. */
  take(): boolean {
    const id = this.#queue.shift();
    if (id === undefined) return false;
    const startMs = this.#now();
    try {
      for (let seat = this.#seats.get(id); seat !== undefined; seat = this.#seats.get(id)) {
        const [message] = seat.waiting;
        if (message === undefined) break;
        this.#watch.begin(id);
        if (this.#step(seat, message)) this.#finish(seat);
        if (seat.waiting.length > 0 && this.#now() - startMs >= TURN_MS) {
          if (this.#seats.has(id)) this.#queue.push(id);
          break;
        }
      }
    } catch (error) {
      // One session's output must not cost the others their screens.
      this.#leave(id, 0);
      this.#say({ kind: "failed", id, reason: String(error) });
    }
    this.#watch.rest();
    return this.#queue.length > 0;
  }

  /** @returns Whether all of it is done. */
  #step(seat: Seat, message: SessionMessage): boolean {
    const { id } = message;
    switch (message.kind) {
      case "open":
        seat.emulator?.dispose();
        seat.emulator = this.#open(message);
        return true;
      case "write":
        return this.#write(seat, message);
      case "skip":
        seat.emulator?.skip(message.skip);
        return true;
      case "draw":
        if (seat.emulator !== undefined) this.#say({ kind: "drawn", id, snapshot: seat.emulator.draw() });
        return true;
      case "show":
        if (seat.emulator !== undefined) this.#say({ kind: "shown", id, state: seat.emulator.show(message.wish) });
        return true;
      case "rest":
        this.#spare?.dispose();
        this.#spare = seat.emulator;
        seat.emulator = undefined;
        return true;
      case "close":
        return true;
    }
  }

  #open({ size, offset, isExact }: Open): Emulator {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare?.begin(size, offset, isExact) === true) return spare;
    spare?.dispose();
    return new Emulator(size, offset, isExact);
  }

  #write(seat: Seat, { id, bytes, size }: Write): boolean {
    if (seat.emulator === undefined) return true;
    const startMs = this.#now();
    const end = seat.slices.endOf(bytes, seat.parsed, seat.emulator.worstNs);
    const answers = seat.emulator.write(bytes.subarray(seat.parsed, end), size);
    const ms = this.#now() - startMs;
    seat.slices.took(end - seat.parsed, ms);
    seat.parsed = end;
    seat.ms += ms;
    for (const answer of answers) seat.answers.push(answer);
    if (seat.ms > MAX_BATCH_MS) {
      this.#leave(id, 0);
      this.#say({ kind: "exceeded", id });
      return false;
    }
    if (end < bytes.length) return false;
    this.#say({ kind: "parsed", id, answers: seat.answers, ms: seat.ms });
    return true;
  }

  #finish(seat: Seat): void {
    seat.waiting.shift();
    seat.parsed = 0;
    seat.ms = 0;
    seat.answers = [];
    this.#watch.finish(1);
  }

  /** Forgets a session, and its messages. @param more Messages that are done with besides. */
  #leave(id: number, more: number): void {
    const seat = this.#seats.get(id);
    this.#seats.delete(id);
    const place = this.#queue.indexOf(id);
    if (place >= 0) this.#queue.splice(place, 1);
    seat?.emulator?.dispose();
    this.#watch.finish((seat?.waiting.length ?? 0) + more);
    if (seat !== undefined) seat.waiting.length = 0;
  }
}
