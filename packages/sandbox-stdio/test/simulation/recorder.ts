// The simulation's record of input: written in batches that take their time, kept across the Durable Object's deaths, and
// lost with it where a batch was not stored yet.

import { type ClientRecord, InputPositions, type InputRecorder } from "../../src/index.ts";
import type { Chance } from "./network.ts";

/** What is stored of each client's input, in order: where each piece starts, and its bytes. */
export type RecordedInput = Map<string, { readonly start: number; readonly bytes: Uint8Array }[]>;

type Piece = { readonly id: string; readonly start: number; readonly bytes: Uint8Array };

export class SimRecorder implements InputRecorder {
  readonly #world: Chance;
  readonly #recorded: RecordedInput;
  readonly #tell: (id: string) => void;
  readonly #positions: InputPositions;
  #batch: Piece[] = [];
  #isWriting = false;
  #isDropped = false;

  constructor(world: Chance, recorded: RecordedInput, tell: (id: string) => void) {
    this.#world = world;
    this.#recorded = recorded;
    this.#tell = tell;
    this.#positions = new InputPositions([...recorded.keys()].map((id) => [id, recordedEnd(recorded, id)]));
  }

  input({ id }: ClientRecord, received: number, offset: number, bytes: Uint8Array): void {
    const known = this.#positions.known(id, received, offset, bytes.length);
    if (known === bytes.length) return;
    this.#batch.push({ id, start: offset + known, bytes: bytes.slice(known) });
    this.#writeLater();
  }

  paneInput(): void {
    throw new Error("no session of the simulation has panes");
  }

  storedUpTo(id: string): number {
    const stored = this.#positions.storedUpTo(id);
    if (stored > recordedEnd(this.#recorded, id)) throw new Error(`${id} counts as stored to ${stored}, and is not`);
    return stored;
  }

  // What is kept of input is not this record's question.
  setSecret(): boolean {
    return true;
  }
  isSecret(): boolean {
    return false;
  }

  isBehind(id: string): boolean {
    return this.#positions.isBehind(id);
  }

  /** Whether all that it was given is stored, and said to be. */
  get isIdle(): boolean {
    return !this.#isWriting && this.#batch.length === 0;
  }

  /** The Durable Object dies: a batch on its way is stored or not, what was gathered is lost. */
  drop(): void {
    this.#isDropped = true;
  }

  #writeLater(): void {
    if (this.#isWriting || this.#batch.length === 0) return;
    this.#isWriting = true;
    const { time, random } = this.#world;
    time.after(random.scale(1, 50), () => {
      if (this.#isDropped) return;
      const batch = this.#batch;
      this.#batch = [];
      for (const { id, start, bytes } of batch) {
        const pieces = this.#recorded.get(id) ?? [];
        pieces.push({ start, bytes });
        this.#recorded.set(id, pieces);
      }
      // Stored, but nobody hears of it yet: a death between the two leaves it in the record, unacknowledged.
      time.after(random.scale(1, 20), () => {
        if (this.#isDropped) return;
        this.#isWriting = false;
        for (const { id, start, bytes } of batch) this.#positions.noteStored(id, start + bytes.length);
        for (const id of new Set(batch.map((piece) => piece.id))) this.#tell(id);
        this.#writeLater();
      });
    });
  }
}

/** Where the record of a client's input ends. */
export function recordedEnd(recorded: RecordedInput, id: string): number {
  return Math.max(0, ...(recorded.get(id) ?? []).map(({ start, bytes }) => start + bytes.length));
}

/** Holds what clients are told of their input against what is in the record. */
export class RecordWitness {
  readonly recorded: RecordedInput = new Map();
  /** Where clients were told to go on that had lost their input: what lies before may be missing (R6). */
  readonly #reborn = new Map<string, Set<number>>();

  /** A client is told this. `stdin` is what it asked for where that is its greeting. */
  told(id: string, frame: string, stdin: number | "new" | undefined): void {
    if (frame.startsWith('{"type":"stdin_ack"')) {
      const { offset } = JSON.parse(frame) as { offset: number };
      const end = recordedEnd(this.recorded, id);
      if (offset > end) throw new Error(`${id} was acknowledged ${offset} bytes of input, recorded are ${end}`);
    } else if (frame.startsWith('{"type":"hello"')) this.#greeted(id, JSON.parse(frame) as { stdin: number }, stdin);
  }

  #greeted(id: string, hello: { stdin: number }, asked: number | "new" | undefined): void {
    const reborn = this.#reborn.get(id) ?? new Set<number>();
    this.#reborn.set(id, reborn);
    if (asked === "new") reborn.add(hello.stdin);
    const end = Math.max(recordedEnd(this.recorded, id), ...reborn);
    if (hello.stdin > end) throw new Error(`${id} was greeted at ${hello.stdin} of its input, recorded are ${end}`);
  }

  /** Everything that was recorded of this client is what it wrote, with nothing left out but what it had lost. */
  check(id: string, inputByte: (at: number) => number): void {
    let end = 0;
    for (const { start, bytes } of this.recorded.get(id) ?? []) {
      if (start > end && !this.#reborn.get(id)?.has(start))
        throw new Error(`no record of ${id} from ${end} to ${start}`);
      bytes.forEach((byte, i) => {
        if (byte !== inputByte(start + i)) throw new Error(`wrong input recorded of ${id} at ${start + i}`);
      });
      end = Math.max(end, start + bytes.length);
    }
  }
}
