// Every placement of faults in a small exchange, instead of random ones. Runs the simulation's world again and again, without
// chance, breaks something at each boundary of messages, and holds every run to the simulation's promises.

import { hash } from "node:crypto";
import { Random } from "../../../local/src/base/random.ts";
import type { Chance, Connection } from "../simulation/network.ts";
import type { Plan } from "../simulation/plan.ts";
import { Scheduler } from "../simulation/scheduler.ts";
import { Simulation } from "../simulation/simulation.ts";

/** Something that breaks at a boundary. */
export type Fault = {
  readonly name: string;
  /** Whether pairs are made of it: not of each mixture of what two directions lose. */
  readonly isPlain: boolean;
  /** @returns False if there is nothing to break. */
  apply(world: Simulation, calm: Calm): boolean;
};

/** Before which boundary, and which fault. */
type Placement = { readonly boundary: number; readonly fault: Fault };

/** A run, and the boundaries at which it was in states that no run before it was in: there more breaks. */
type Parent = { readonly placements: readonly Placement[]; readonly fresh: readonly number[] };

export type Explored = {
  readonly runs: number;
  /** Different states at boundaries. */
  readonly states: number;
  /** Runs that came to a state from which all was explored before. */
  readonly merged: number;
};

/** No chance: each draw is the same, but for what the present fault says. */
export class Calm extends Random {
  /** The answers to the next questions. */
  script: boolean[] = [];
  /** The answer to the others, while a fault is applied. */
  always: boolean | undefined;
  /** Lives of one instant need names of their own: each that is made before the run, or by a fault, draws another number. */
  lives = 0;
  isMaking = true;

  constructor() {
    super(0);
  }

  override next(): number {
    if (this.isMaking) this.lives += 1;
    return (0.5 + this.lives / 64) % 1;
  }
  override int(min: number, max: number): number {
    return this.always === false ? min : max;
  }
  override scale(_min: number, max: number): number {
    return Math.ceil(max / 5);
  }
  override chance(probability: number): boolean {
    return this.script.shift() ?? this.always ?? probability > 0.25;
  }
  override pick<T>(items: readonly T[]): T {
    const [first] = items;
    if (first === undefined) throw new RangeError("Cannot pick one of nothing");
    return first;
  }
}

/**
 * Canonical names of states: what each part has heard, in its own order, and the frames in flight. Parts are machines without
 * chance: two runs in which each has heard the same, at the same times, are in the same state, however their turns interleaved.
 */
class Histories {
  readonly #heard = new Map<string, string>([["relay", ""]]);
  #timers = "";
  #unread = "";
  readonly #connections: Connection[] = [];
  readonly #time: Scheduler;
  readonly #calm: Calm;

  constructor(time: Scheduler, calm: Calm) {
    this.#time = time;
    this.#calm = calm;
  }

  made(connection: Connection): void {
    this.#connections.push(connection);
  }

  note(owner: string, what: string): void {
    const before = this.#heard.get(owner) ?? "";
    this.#heard.set(owner, digest(`${before} ${this.#timersSoFar} ${this.#time.now} ${what}`));
  }

  /** A timer fires, or a fault hits: all hear of it. */
  noteAll(what: string): void {
    this.#unread += `${this.#time.now} ${what};`;
  }

  get #timersSoFar(): string {
    if (this.#unread !== "") this.#timers = digest(this.#timers + this.#unread);
    this.#unread = "";
    return this.#timers;
  }

  get state(): Buffer {
    const heard = [...this.#heard].sort().flat();
    const links = this.#connections.map((connection) => connection.state);
    const common = [this.#time.now, this.#timersSoFar, this.#calm.lives];
    return hash("md5", JSON.stringify([common, heard, links, this.#time.agenda]), "buffer");
  }
}

function digest(text: string): string {
  return hash("md5", text, "base64");
}

const FREE = 0xff;

/** With how few faults each state was reached: a table by 64 bits of their names, as there are tens of millions. */
class States {
  size = 0;
  #low = new Uint32Array(2 ** 16);
  #high = new Uint32Array(2 ** 16);
  #faults = new Uint8Array(2 ** 16).fill(FREE);

  /** @returns Whether it is the first time with so few faults. */
  isNew(state: Buffer, faults: number): boolean {
    const [low, high] = [state.readUInt32LE(0), state.readUInt32LE(4)];
    const at = this.#find(low, high);
    const before = this.#faults[at] ?? FREE;
    if (before <= faults) return false;
    this.#set(at, low, high, faults);
    if (before === FREE) this.size += 1;
    if (this.size > 0.7 * this.#faults.length) this.#grow();
    return true;
  }

  /** The slot of a state, or the free one that it would get. */
  #find(low: number, high: number): number {
    const mask = this.#faults.length - 1;
    let at = low & mask;
    while (this.#faults[at] !== FREE && (this.#low[at] !== low || this.#high[at] !== high)) at = (at + 1) & mask;
    return at;
  }

  #set(at: number, low: number, high: number, faults: number): void {
    this.#low[at] = low;
    this.#high[at] = high;
    this.#faults[at] = faults;
  }

  #grow(): void {
    const [lows, highs, faults] = [this.#low, this.#high, this.#faults];
    this.#low = new Uint32Array(2 * lows.length);
    this.#high = new Uint32Array(2 * lows.length);
    this.#faults = new Uint8Array(2 * lows.length).fill(FREE);
    for (const [i, count] of faults.entries()) {
      const [low = 0, high = 0] = [lows[i], highs[i]];
      if (count !== FREE) this.#set(this.#find(low, high), low, high, count);
    }
  }
}

class Merged extends Error {}
/** Thrown by every merged run: a stack for each of hundreds would cost time. */
const MERGED = new Merged();

export class Explorer {
  readonly #plan: Plan;
  readonly #faults: readonly Fault[];
  readonly #onRun: ((trace: readonly string[], faults: string) => void) | undefined;
  readonly #seen = new States();
  #runs = 0;
  #merged = 0;

  /** @param onRun Told of the steps of each run, which it judges in place of the simulation's own promises. */
  constructor(plan: Plan, faults: readonly Fault[], onRun?: (trace: readonly string[], faults: string) => void) {
    this.#plan = plan;
    this.#faults = faults;
    this.#onRun = onRun;
  }

  /** @param most Faults in one run, at most. @throws {Error} The first broken promise, with the faults that lead there. */
  explore(most: number): Explored {
    let parents: Parent[] = [{ placements: [], fresh: this.#run([]) }];
    for (let count = 1; count <= most; count += 1) {
      const next: Parent[] = [];
      for (const { placements, fresh } of parents) {
        for (const boundary of fresh) {
          for (const fault of this.#faults) {
            const more = [...placements, { boundary, fault }];
            const found = this.#run(more);
            if (found.length > 0 && count < most) next.push({ placements: more, fresh: found });
          }
        }
      }
      parents = next;
    }
    return { runs: this.#runs, states: this.#seen.size, merged: this.#merged };
  }

  /** @returns The boundaries at which it was in states that no run had been in. */
  #run(placements: readonly Placement[]): number[] {
    this.#runs += 1;
    const time = new Scheduler();
    const calm = new Calm();
    const histories = new Histories(time, calm);
    const trace: string[] = [];
    const world: Chance = {
      time,
      random: calm,
      witness: {
        made: (connection) => histories.made(connection),
        noted: (step) => trace.push(step),
        heard: ({ owner = "" }, item) => {
          time.turn = owner;
          histories.note(owner, "code" in item ? `closed ${item.code}` : String(item.frame));
        },
      },
    };
    time.onTimer = () => histories.noteAll(time.turn);
    const simulation = new Simulation(this.#plan, world);
    calm.isMaking = false;
    const fresh: number[] = [];
    let boundary = -1;
    let isQuiet = true;
    let applied = 0;
    time.onBoundary = (isMessage) => {
      // A wait for a timer is one boundary, however many timers fire.
      if (!isMessage && isQuiet) return;
      isQuiet = !isMessage;
      boundary += 1;
      for (let next = placements[applied]; next?.boundary === boundary; next = placements[applied]) {
        applied += 1;
        if (!applyTo(simulation, calm, histories, next.fault)) throw MERGED;
      }
      if (applied < placements.length) return;
      if (!this.#seen.isNew(histories.state, applied)) throw MERGED;
      fresh.push(boundary);
    };
    const faults = placements.map(({ boundary: at, fault }) => `${fault.name} at ${at}`).join(", ");
    try {
      simulation.run((error) => !(error instanceof Merged));
    } catch (error) {
      if (error instanceof Merged) this.#merged += 1;
      else if (this.#onRun === undefined)
        throw new Error(`after [${faults}]: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#onRun?.(trace, faults);
    return fresh;
  }
}

function applyTo(simulation: Simulation, calm: Calm, histories: Histories, fault: Fault): boolean {
  const isApplied = fault.apply(simulation, calm);
  calm.script = [];
  calm.always = undefined;
  // A cut and a delay show in the frames in flight; every other fault is heard by the part that it hits.
  if (isApplied && !fault.name.startsWith("cut") && !fault.name.startsWith("delay")) histories.noteAll(fault.name);
  return isApplied;
}
