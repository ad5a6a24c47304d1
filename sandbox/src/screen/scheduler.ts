// Schedules the sessions in the worker: each parses in turn for a few milliseconds, however much output it has. Knows nothing of
// threads.

import { Slices } from "sandbox-stdio/core";
import { type Answer, Emulator } from "./emulator.ts";
import type { FromWorker, SessionMessage } from "./messages.ts";
import type { Watch } from "./watch.ts";

const TURN_MS = 8;
/** A batch that takes longer is given up, and the screen with it: no snapshot would come in time. */
const MAX_BATCH_MS = 2_000;

type Open = Extract<SessionMessage, { readonly kind: "open" }>;
type Write = Extract<SessionMessage, { readonly kind: "write" }>;

/** A session's emulator and its messages. */
type Slot = {
  readonly waiting: SessionMessage[];
  readonly slices: Slices;
  emulator: Emulator | undefined;
  /** How far the first write in `waiting` is parsed, its cost, and its answers. */
  parsed: number;
  ms: number;
  answers: Answer[];
};

export class ScreenScheduler {
  readonly #watch: Watch;
  readonly #now: () => number;
  readonly #say: (message: FromWorker) => void;
  readonly #slots = new Map<number, Slot>();
  /** Sessions with messages, in the order of their turns. */
  readonly #queue: number[] = [];
  /** Released by a session, for the next session that needs one: most have parsed only a prompt, and each takes 150 KB. */
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
    let slot = this.#slots.get(id);
    if (slot === undefined && kind !== "open") {
      // The screen was given up, and the bridge did not know yet.
      this.#watch.finish(1);
      return;
    }
    if (slot === undefined) {
      slot = { waiting: [], slices: new Slices(), emulator: undefined, parsed: 0, ms: 0, answers: [] };
      this.#slots.set(id, slot);
    }
    slot.waiting.push(message);
    if (slot.waiting.length === 1) this.#queue.push(id);
  }

  /** Works for the next session. @returns Whether there is more to do. */
  take(): boolean {
    const id = this.#queue.shift();
    if (id === undefined) return false;
    const startMs = this.#now();
    try {
      for (let slot = this.#slots.get(id); slot !== undefined; slot = this.#slots.get(id)) {
        const [message] = slot.waiting;
        if (message === undefined) break;
        this.#watch.begin(id);
        if (this.#step(slot, message)) this.#finish(slot);
        if (slot.waiting.length > 0 && this.#now() - startMs >= TURN_MS) {
          if (this.#slots.has(id)) this.#queue.push(id);
          break;
        }
      }
    } catch (error) {
      // A fault in one session's output must not cost other sessions their screens.
      this.#leave(id, 0);
      this.#say({ kind: "failed", id, reason: String(error) });
    }
    this.#watch.rest();
    return this.#queue.length > 0;
  }

  /** @returns Whether all of it is done. */
  #step(slot: Slot, message: SessionMessage): boolean {
    const { id } = message;
    switch (message.kind) {
      case "open":
        slot.emulator?.dispose();
        slot.emulator = this.#open(message);
        return true;
      case "write":
        return this.#write(slot, message);
      case "skip":
        slot.emulator?.skip(message.skip);
        return true;
      case "draw":
        if (slot.emulator !== undefined) this.#say({ kind: "drawn", id, snapshot: slot.emulator.draw() });
        return true;
      case "show":
        if (slot.emulator !== undefined) this.#say({ kind: "shown", id, state: slot.emulator.show(message.request) });
        return true;
      case "rest":
        this.#spare?.dispose();
        this.#spare = slot.emulator;
        slot.emulator = undefined;
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

  #write(slot: Slot, { id, bytes, size }: Write): boolean {
    if (slot.emulator === undefined) return true;
    const startMs = this.#now();
    const end = slot.slices.endOf(bytes, slot.parsed, slot.emulator.worstNs);
    const answers = slot.emulator.write(bytes.subarray(slot.parsed, end), size);
    const ms = this.#now() - startMs;
    slot.slices.took(end - slot.parsed, ms);
    slot.parsed = end;
    slot.ms += ms;
    for (const answer of answers) slot.answers.push(answer);
    if (slot.ms > MAX_BATCH_MS) {
      this.#leave(id, 0);
      this.#say({ kind: "exceeded", id });
      return false;
    }
    if (end < bytes.length) return false;
    this.#say({ kind: "parsed", id, answers: slot.answers, ms: slot.ms });
    return true;
  }

  #finish(slot: Slot): void {
    slot.waiting.shift();
    slot.parsed = 0;
    slot.ms = 0;
    slot.answers = [];
    this.#watch.finish(1);
  }

  /** Forgets a session and its messages. @param more Other messages that are finished by this. */
  #leave(id: number, more: number): void {
    const slot = this.#slots.get(id);
    this.#slots.delete(id);
    const place = this.#queue.indexOf(id);
    if (place >= 0) this.#queue.splice(place, 1);
    slot?.emulator?.dispose();
    this.#watch.finish((slot?.waiting.length ?? 0) + more);
    if (slot !== undefined) slot.waiting.length = 0;
  }
}
