// One client's input on its way to the process, by offset, each byte taken once. The bridge holds bytes that the process has
// not read; the Durable Object holds bytes that the bridge has not confirmed, to resend them after a break.
// Both drop duplicates and acknowledge in order.

import { release } from "./release.ts";

/** An entry waiting its turn. `start` and `end` are offsets of the client's input. */
export type InputEntry =
  | {
      readonly kind: "bytes";
      readonly start: number;
      readonly end: number;
      /** Owned by the queue. The process's writer releases the memory ({@link release}). */
      readonly bytes: Uint8Array;
      /** {@link Keyboard.turn} on arrival. */
      readonly turn: number;
    }
  /** Refused bytes: never written, but counted, so that they are never resent. */
  | { readonly kind: "refused"; readonly start: number; readonly end: number }
  /** End of input after `end`. */
  | { readonly kind: "eof"; readonly start: number; readonly end: number };

/** Pieces up to half of this are gathered. */
const GATHER_BYTES = 8192;

export class InputQueue {
  readonly #hop: "process" | "relay";
  #entries: InputEntry[] = [];
  #received: number;
  #taken: number;
  /** Offset of the newest accepted `eof`, so that a repetition is applied once. */
  #eof: number | undefined;
  #queuedBytes = 0;
  #gathered = new Uint8Array(0);

  /**
   * @param hop `process`: refused bytes count as taken once everything before them is. `relay`: only after
   *   {@link takeUpTo}, since the other side must count them before the client hears of it.
   * @param taken Offset at which this client's input continues; `eof` is the end of input that the other side already has.
   * @param received Count of received bytes, of which some may not be taken.
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

  /** Everything before this was written to the process or refused. */
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

  /** Input yet to be taken, oldest first. */
  get entries(): readonly InputEntry[] {
    return this.#entries;
  }

  /**
   * Takes bytes that start at `offset`, and drops duplicates before {@link received}. If `offset` is ahead, the bytes between
   * count as refused, as the client was told. The queue owns `bytes` from here on, as a view that {@link release} empties.
   * @returns The new entry, if any.
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

  /** Appends a small piece to a waiting one: each entry costs more than its bytes. */
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

  /** Counts everything up to `end` that has not been received as refused. */
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

  /** Ends the input at `asked`, or at the received bytes if that is less. Returns undefined for a repetition. */
  pushEof(asked: number): InputEntry | undefined {
    const offset = Math.min(asked, this.#received);
    if (this.#eof !== undefined && offset <= this.#eof) return undefined;
    this.#eof = offset;
    const entry: InputEntry = { kind: "eof", start: this.#received, end: this.#received };
    this.#entries.push(entry);
    return entry;
  }

  /** The end of input that still waits, if any. */
  get waitingEof(): InputEntry | undefined {
    return this.#entries.findLast((entry) => entry.kind === "eof");
  }

  /** The other side has the end of input at `offset`, so it need not be resent. */
  dropEof(offset: number): void {
    this.#entries = this.#entries.filter((entry) => entry.kind !== "eof" || entry.end > offset);
  }

  /** The first `count` bytes of the oldest entry, of kind `bytes`, have been written. */
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

  /** The oldest entry, an `eof`, has been applied. */
  takeEof(): void {
    if (this.#entries[0]?.kind !== "eof") throw new RangeError("Cannot apply an end of input: it is not next");
    this.#entries.shift();
    this.#settle();
  }

  /** The other side has taken everything before `offset`, which is dropped here. Lower offsets are ignored. */
  takeUpTo(offset: number): void {
    // Only the other side holds input before the oldest entry.
    this.#taken = Math.max(this.#taken, Math.min(offset, this.#entries[0]?.start ?? offset));
    for (let oldest = this.#entries[0]; oldest !== undefined && this.#taken < offset; oldest = this.#entries[0]) {
      if (oldest.kind === "bytes") {
        const { length } = oldest.bytes;
        const count = Math.min(offset - this.#taken, length);
        this.take(count);
        if (count === length) release(oldest.bytes);
      } else {
        this.#taken = Math.min(offset, oldest.end);
        if (this.#taken < oldest.end) break;
        this.#entries.shift();
      }
    }
    if (offset > this.#received) this.#received = offset;
    this.#taken = Math.max(this.#taken, offset);
  }

  /** The other side has received everything before `offset`, taken or not. Lower offsets are ignored. */
  receiveUpTo(offset: number): void {
    this.#received = Math.max(this.#received, offset);
  }

  /** Drops all waiting input: its client is forgotten. */
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
