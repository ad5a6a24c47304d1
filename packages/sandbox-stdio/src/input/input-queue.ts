// One client's input on its way to the process: numbered by offset, every byte taken once. The bridge keeps here bytes that the
// process has not read yet; the Durable Object keeps bytes that the bridge has not confirmed, to send them again after a break.
// Both hops need the same: tell new bytes from duplicates, and acknowledge in order.

import { release } from "./release.ts";

/** Something that waits its turn in the input. `start` and `end` are offsets of the client's input. */
export type InputEntry =
  | {
      readonly kind: "bytes";
      readonly start: number;
      readonly end: number;
      /** The queue's. The process's writer gives their memory back ({@link release}). */
      readonly bytes: Uint8Array;
      /** {@link Keyboard.turn} when it came. */
      readonly turn: number;
    }
  /** Bytes that were refused: never written, but counted, so that they are never sent again. */
  | { readonly kind: "refused"; readonly start: number; readonly end: number }
  /** No more input after `end`. */
  | { readonly kind: "eof"; readonly start: number; readonly end: number };

/** Pieces up to half of this are put together. */
const GATHER_BYTES = 8192;

export class InputQueue {
  readonly #hop: "process" | "relay";
  #entries: InputEntry[] = [];
  #received: number;
  #taken: number;
  /** Offset of the newest `eof` accepted, so that a repeated one is applied once. */
  #eof: number | undefined;
  #queuedBytes = 0;
  #gathered = new Uint8Array(0);

  /**
   * @param hop `process`: refused bytes count as taken once everything before them is. `relay`: only when the other side
   *   has said so ({@link takeUpTo}), since it must know the count before the client hears of it.
   * @param taken Where this client's input goes on, `eof` the end of input that the other side already has; `received` the
   *   count of bytes that it has received, though not all of them are taken.
   */
  constructor(hop: "process" | "relay", taken = 0, eof?: number, received = taken) {
    this.#hop = hop;
    this.#received = Math.max(taken, received);
    this.#taken = taken;
    this.#eof = eof;
  }

  /** Offset of the next byte that is not a duplicate. */
  get received(): number {
    return this.#received;
  }

  /** Every byte before this has been written to the process, or refused. */
  get taken(): number {
    return this.#taken;
  }

  get eof(): number | undefined {
    return this.#eof;
  }

  /** Bytes held here. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Input that is still to be taken, oldest first. */
  get entries(): readonly InputEntry[] {
    return this.#entries;
  }

  /**
   * Takes in bytes that start at `offset`. Those before {@link received} are duplicates and dropped. An offset ahead of
   * it counts the bytes between as refused: the client was told so. `bytes` are the queue's from here on: it keeps
   * a view, or gathers small ones into memory of its own. The view is empty once they are taken ({@link release}).
   * @returns The entry that is new, if there is one.
   */
  push(offset: number, bytes: Uint8Array, turn = 0): InputEntry | undefined {
    if (offset > this.#received) this.refuse(offset);
    const fresh = offset + bytes.length - this.#received;
    if (fresh <= 0) return undefined;
    const entry: InputEntry = {
      kind: "bytes",
      start: this.#received,
      end: this.#received + fresh,
      bytes: fresh === bytes.length ? bytes : bytes.subarray(bytes.length - fresh),
      turn,
    };
    if (!this.#gather(entry.bytes, entry.end, turn)) this.#entries.push(entry);
    this.#received = entry.end;
    this.#queuedBytes += fresh;
    return entry;
  }

  /** Puts a small piece behind another that still waits: each entry costs more than its bytes. */
  #gather(bytes: Uint8Array, end: number, turn: number): boolean {
    const last = this.#entries.at(-1);
    if (last?.kind !== "bytes" || last.end !== end - bytes.length || last.turn !== turn) return false;
    if (last.bytes.length + bytes.length > GATHER_BYTES / 2) return false;
    let at = last.bytes.byteOffset + last.bytes.length;
    if (last.bytes.buffer !== this.#gathered.buffer || at + bytes.length > GATHER_BYTES) {
      this.#gathered = new Uint8Array(GATHER_BYTES);
      this.#gathered.set(last.bytes);
      at = last.bytes.length;
    }
    this.#gathered.set(bytes, at);
    const start = at - last.bytes.length;
    this.#entries[this.#entries.length - 1] = {
      ...last,
      end,
      bytes: this.#gathered.subarray(start, at + bytes.length),
    };
    return true;
  }

  /** Counts everything up to `end` as refused, as far as it has not been received. */
  refuse(end: number): InputEntry | undefined {
    if (end <= this.#received) return undefined;
    const last = this.#entries.at(-1);
    const entry: InputEntry = { kind: "refused", start: last?.kind === "refused" ? last.start : this.#received, end };
    if (last?.kind === "refused") this.#entries.pop();
    this.#entries.push(entry);
    this.#received = end;
    this.#settle();
    return entry;
  }

  /** No input after byte `asked`, or after the received bytes. Applied once for each offset; a repetition answers undefined. */
  pushEof(asked: number): InputEntry | undefined {
    const offset = Math.min(asked, this.#received);
    if (this.#eof !== undefined && offset <= this.#eof) return undefined;
    this.#eof = offset;
    const entry: InputEntry = { kind: "eof", start: this.#received, end: this.#received };
    this.#entries.push(entry);
    return entry;
  }

  /** The end of input that still waits, if one does. */
  get waitingEof(): InputEntry | undefined {
    return this.#entries.findLast((entry) => entry.kind === "eof");
  }

  /** The other side has the end of input at `offset`: it need not be sent again. */
  dropEof(offset: number): void {
    this.#entries = this.#entries.filter((entry) => entry.kind !== "eof" || entry.end > offset);
  }

  /** The first `count` bytes of the oldest entry have been written. It must be of kind `bytes`. */
  take(count: number): void {
    const oldest = this.#entries[0];
    if (oldest?.kind !== "bytes" || count > oldest.bytes.length) {
      throw new RangeError(`Cannot take ${count} bytes: they are not next`);
    }
    this.#taken += count;
    this.#queuedBytes -= count;
    if (count === oldest.bytes.length) this.#entries.shift();
    else this.#entries[0] = { ...oldest, start: oldest.start + count, bytes: oldest.bytes.subarray(count) };
    this.#settle();
  }

  /** The oldest entry was an `eof` and has been applied. */
  takeEof(): void {
    if (this.#entries[0]?.kind !== "eof") throw new RangeError("Cannot apply an end of input: it is not next");
    this.#entries.shift();
    this.#settle();
  }

  /** The other side has taken everything before `offset`; nothing of that is kept. Going back is ignored. */
  takeUpTo(offset: number): void {
    // Only the other side holds input from before the oldest entry.
    this.#taken = Math.max(this.#taken, Math.min(offset, this.#entries[0]?.start ?? offset));
    while (this.#entries.length > 0 && this.#taken < offset) {
      const oldest = this.#entries[0];
      if (oldest === undefined) break;
      if (oldest.kind === "bytes") {
        const { length } = oldest.bytes;
        const count = Math.min(offset - this.#taken, length);
        this.take(count);
        if (count === length) release(oldest.bytes);
      } else if (oldest.kind === "eof") {
        this.takeEof();
      } else {
        this.#taken = Math.min(offset, oldest.end);
        if (this.#taken < oldest.end) break;
        this.#entries.shift();
      }
    }
    if (offset > this.#received) this.#received = offset;
    if (offset > this.#taken && this.#entries.length === 0) this.#taken = offset;
  }

  /** The other side has received everything before `offset`, though it may not have taken it. Going back is ignored. */
  receiveUpTo(offset: number): void {
    this.#received = Math.max(this.#received, offset);
  }

  /** None of the waiting input will be taken: its client is forgotten. */
  abandon(): void {
    this.#entries = [];
    this.#queuedBytes = 0;
  }

  #settle(): void {
    if (this.#hop === "relay") return;
    for (let oldest = this.#entries[0]; oldest?.kind === "refused"; oldest = this.#entries[0]) {
      this.#taken = oldest.end;
      this.#entries.shift();
    }
  }
}
