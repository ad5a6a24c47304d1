// Reads a tar archive as a stream: GNU, pax and busybox, with sparse files. Trusts no byte of it, and knows no file system.
// Names are bytes, one per character (Latin-1), since they need not be UTF-8.

import { latin1 } from "../text/latin1.ts";
import { cloneBytes } from "../text/utf8-text.ts";

export const TAR_BLOCK = 512;
/** Longest name or pax record accepted. */
const MAX_LONG_BYTES = 1_048_576;
/** Most pieces of one sparse file. */
const MAX_PIECES = 1_000_000;
/** Pieces of a sparse file in its header, and in each block that continues it. */
const HEADER_PIECES = 4;
const MORE_PIECES = 21;
const PIECE_BYTES = 24;
/** End of the year 9999. */
const MAX_TIME = 253_402_300_799;

export type TarMember = {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "hard link" | "other";
  /** Target of a link; else empty. */
  readonly target: string;
  /** Size of a file, including its holes. */
  readonly size: number;
  /** Bytes in the archive: fewer than the size if there are holes. */
  readonly stored: number;
  readonly mode: number;
  /** Seconds since 1970. */
  readonly modifiedAt: number;
};

/** Called in the order of the archive. */
export type TarSink = {
  member(member: TarMember): void;
  /** Bytes of the last member, a file, from this offset. Borrowed. */
  bytes(bytes: Uint8Array, offset: number): void;
  /** The last member is complete. */
  memberEnd(): void;
};

/** The archive is malformed or truncated. */
export class TarFault extends Error {
  override readonly name = "TarFault";
}

type Piece = { readonly offset: number; readonly bytes: number };
type State =
  | { readonly at: "header" }
  /** Collects the bytes of a long name or a pax record. */
  | { readonly at: "long"; readonly type: string; left: number; readonly parts: Uint8Array[] }
  | { readonly at: "pieces"; readonly member: TarMember; readonly stored: number; readonly pieces: Piece[] }
  | { readonly at: "body"; readonly isFile: boolean; readonly pieces: readonly Piece[]; piece: number; done: number }
  | { readonly at: "skip"; left: number }
  | { readonly at: "end" };

export class TarReader {
  readonly #sink: TarSink;
  readonly #block = new Uint8Array(TAR_BLOCK);
  #filled = 0;
  #state: State = { at: "header" };
  #padding = 0;
  /** Properties of the next member from the headers before it. */
  #more = new Map<string, string>();

  constructor(sink: TarSink) {
    this.#sink = sink;
  }

  /** Whether the archive's end marker has been read; later bytes are ignored. */
  get isWhole(): boolean {
    return this.#state.at === "end";
  }

  /** @throws {TarFault} */
  push(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0 && this.#state.at !== "end") rest = rest.subarray(this.#take(rest));
  }

  /** @returns How many bytes were consumed. */
  #take(bytes: Uint8Array): number {
    const state = this.#state;
    switch (state.at) {
      case "header":
      case "pieces":
        return this.#fill(bytes, () => {
          if (state.at === "header") this.#header();
          else this.#morePieces(state);
        });
      case "long": {
        const part = bytes.subarray(0, state.left);
        state.parts.push(cloneBytes(part));
        state.left -= part.length;
        if (state.left === 0) this.#long(state);
        return part.length;
      }
      case "body":
        return this.#body(state, bytes);
      case "skip": {
        const length = Math.min(state.left, bytes.length);
        state.left -= length;
        if (state.left === 0) this.#state = { at: "header" };
        return length;
      }
      case "end":
        return bytes.length;
    }
  }

  #fill(bytes: Uint8Array, full: () => void): number {
    const part = bytes.subarray(0, TAR_BLOCK - this.#filled);
    this.#block.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === TAR_BLOCK) {
      this.#filled = 0;
      full();
    }
    return part.length;
  }

  #header(): void {
    const block = this.#block;
    if (block.every((byte) => byte === 0)) {
      this.#state = { at: "end" };
      return;
    }
    if (checksumOf(block) !== number(block, 148, 8)) throw new TarFault("not a tar archive, or damaged");
    const type = String.fromCharCode(block[156] ?? 0);
    const size = countOf(number(block, 124, 12));
    if (LONG.test(type)) {
      if (size > MAX_LONG_BYTES) throw new TarFault(`a name of ${size} bytes is too long`);
      this.#padding = paddingOf(size);
      this.#state = { at: "long", type, left: size, parts: [] };
      if (size === 0) this.#long(this.#state);
      return;
    }
    const more = this.#more;
    this.#more = new Map();
    const stored = HAS_NO_BODY.test(type) ? 0 : countOf(Number(more.get("size") ?? size));
    const member = memberOf(block, type, stored, more);
    this.#padding = paddingOf(stored);
    if (type !== "S") {
      this.#begin(member, [{ offset: 0, bytes: stored }]);
      return;
    }
    const sparse = { ...member, size: countOf(number(block, 483, 12)) };
    const pieces = piecesOf(block, 386, HEADER_PIECES);
    if (block[482] === 0) this.#beginSparse(sparse, stored, pieces);
    else this.#state = { at: "pieces", member: sparse, stored, pieces };
  }

  #morePieces({ member, stored, pieces }: Extract<State, { at: "pieces" }>): void {
    pieces.push(...piecesOf(this.#block, 0, MORE_PIECES));
    if (pieces.length > MAX_PIECES) throw new TarFault("a sparse file has too many pieces");
    if (this.#block[MORE_PIECES * PIECE_BYTES] === 0) this.#beginSparse(member, stored, pieces);
  }

  #beginSparse(member: TarMember, stored: number, pieces: readonly Piece[]): void {
    let end = 0;
    for (const { offset, bytes } of pieces) {
      if (offset < end) throw new TarFault("the pieces of a sparse file overlap");
      end = offset + bytes;
    }
    const sum = pieces.reduce((total, { bytes }) => total + bytes, 0);
    if (end > member.size || sum !== stored) throw new TarFault("the pieces of a sparse file are not its size");
    this.#begin(member, pieces);
  }

  #begin(member: TarMember, pieces: readonly Piece[]): void {
    this.#sink.member(member);
    const state = { at: "body", isFile: member.kind === "file", pieces, piece: 0, done: 0 } as const;
    this.#state = state;
    this.#body(state, new Uint8Array());
  }

  #body(state: Extract<State, { at: "body" }>, bytes: Uint8Array): number {
    let taken = 0;
    for (let piece = state.pieces[state.piece]; piece !== undefined; piece = state.pieces[state.piece]) {
      const part = bytes.subarray(taken, taken + piece.bytes - state.done);
      if (state.isFile && part.length > 0) this.#sink.bytes(part, piece.offset + state.done);
      taken += part.length;
      state.done += part.length;
      if (state.done < piece.bytes) return taken;
      state.piece += 1;
      state.done = 0;
    }
    this.#sink.memberEnd();
    this.#pad();
    return taken;
  }

  #pad(): void {
    this.#state = this.#padding === 0 ? { at: "header" } : { at: "skip", left: this.#padding };
  }

  /** GNU headers for a long name (L) or link target (K), or pax records (x). Global pax records (g) have nothing of use. */
  #long({ type, parts }: Extract<State, { at: "long" }>): void {
    const text = parts.map(latin1).join("");
    if (type === "L") this.#more.set("path", text);
    if (type === "K") this.#more.set("linkpath", text);
    for (const [key, value] of type === "x" ? paxRecords(text) : []) if (USED.test(key)) this.#more.set(key, value);
    this.#pad();
  }
}

const LONG = /[LKxg]/;
/** Pax records used here. The third marks a sparse file of pax, whose map is in its data. */
const USED = /^(path|linkpath|GNU\.sparse\.realsize|size|mtime)$/;
/** Links, devices, folders and pipes have no data, whatever size they state. */
const HAS_NO_BODY = /[1-6]/;

const paddingOf = (size: number) => (TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK;
const beforeNul = (text: string) => text.replace(/\0.*$/s, "");

function memberOf(block: Uint8Array, type: string, stored: number, more: ReadonlyMap<string, string>): TarMember {
  const text = (at: number, length: number) => beforeNul(latin1(block.subarray(at, at + length)));
  // GNU's format has other fields in the place of the name prefix.
  const prefix = text(257, 8) === "ustar" ? text(345, 155) : "";
  const name = beforeNul(more.get("path") ?? (prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`));
  return {
    name,
    kind: kindOf(type, name, more),
    target: beforeNul(more.get("linkpath") ?? text(157, 100)),
    size: stored,
    stored,
    mode: countOf(number(block, 100, 8)),
    modifiedAt: timeOf(Number(more.get("mtime") ?? number(block, 136, 12))),
  };
}

function kindOf(type: string, name: string, more: ReadonlyMap<string, string>): TarMember["kind"] {
  if (more.has("GNU.sparse.realsize")) return "other";
  switch (type) {
    case "\0":
    case "0":
    case "7":
      return name.endsWith("/") ? "folder" : "file";
    case "S":
      return "file";
    case "1":
      return "hard link";
    case "2":
      return "link";
    case "5":
      return "folder";
    default:
      return "other";
  }
}

function piecesOf(block: Uint8Array, at: number, most: number): Piece[] {
  const pieces = Array.from({ length: most }, (_, index) => {
    const start = at + index * PIECE_BYTES;
    return block[start] === 0
      ? { offset: 0, bytes: 0 }
      : { offset: countOf(number(block, start, 12)), bytes: countOf(number(block, start + 12, 12)) };
  });
  return pieces.filter(({ bytes }) => bytes > 0);
}

/** Reads `LENGTH KEY=VALUE\n`; the length includes itself. */
function* paxRecords(text: string): Generator<readonly [string, string]> {
  for (let at = 0; at < text.length; ) {
    const [head = "", digits = ""] = /^(\d{1,8}) /.exec(text.slice(at, at + 9)) ?? [];
    const end = at + Number(digits);
    const equals = text.indexOf("=", at);
    if (digits === "" || end > text.length || equals === -1 || equals >= end || text[end - 1] !== "\n")
      throw new TarFault("a pax record is damaged");
    yield [text.slice(at + head.length, equals), text.slice(equals + 1, end - 1)];
    at = end;
  }
}

/** Octal digits after blanks, or binary if the first bit is set. */
function number(block: Uint8Array, at: number, length: number): number {
  const first = block[at] ?? 0;
  if (first >= 0x80) {
    const start = first === 0xff ? -1 : first & 0x7f;
    return block.subarray(at + 1, at + length).reduce((value, byte) => value * 256 + byte, start);
  }
  let value = 0;
  for (let next = at; next < at + length; next += 1) {
    const digit = (block[next] ?? 0) - 0x30;
    if (digit >= 0 && digit < 8) value = value * 8 + digit;
    else if (block[next] !== 0x20 || value !== 0) break;
  }
  return value;
}

function countOf(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new TarFault("a size is not a valid number");
  return value;
}

/** File systems reject times after the year 9999, and Node treats times before 1970 as now. */
function timeOf(seconds: number): number {
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), MAX_TIME);
}

/** The checksum field itself counts as blanks. */
function checksumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < TAR_BLOCK; at += 1) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}
