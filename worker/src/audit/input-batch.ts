// A batch of one client's input on its way into the audit: as much of it as may be kept there.

import { isUtf8 } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { defined, type InputFate, joined, release } from "sandbox-stdio/core";
import type { InputDeed } from "./record.ts";

/** The part of input that the record keeps: its bytes, or their hash, or how many they were. */
export type InputKeeping = "content" | "hash" | "length";

/** A batch of this size is closed. */
const MAX_BATCH_BYTES = 64 * 1024;

export class InputBatch {
  readonly client: string;
  readonly offset: number;
  /** Absent: it was for the process, and counts. */
  readonly pane: string | undefined;
  readonly #fate: InputFate;
  readonly #isSecret: boolean;
  readonly #keeping: InputKeeping;
  readonly #hash: Hash | undefined;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(
    client: string,
    offset: number,
    fate: InputFate,
    keeping: InputKeeping,
    isSecret: boolean,
    pane?: string,
  ) {
    this.client = client;
    this.pane = pane;
    this.offset = offset;
    this.#fate = fate;
    // Refused and secret input is not for the readers of the record, nor a way to fill it.
    this.#keeping = isSecret || fate === "refused" ? "length" : keeping;
    this.#isSecret = isSecret;
    this.#hash = this.#keeping === "hash" ? createHash("sha256") : undefined;
  }

  get end(): number {
    return this.offset + this.#length;
  }

  /** Takes a piece that follows directly, and of which the same is true. @returns Whether it did. Copies what it keeps. */
  add(client: string, offset: number, bytes: Uint8Array, fate: InputFate, isSecret: boolean, pane?: string): boolean {
    const follows = offset === (pane === undefined ? this.end : this.offset) && pane === this.pane;
    const isNext = follows && client === this.client && fate === this.#fate && isSecret === this.#isSecret;
    if (!isNext || (this.#length > 0 && this.#length + bytes.length > MAX_BATCH_BYTES)) return false;
    this.#length += bytes.length;
    this.#hash?.update(bytes);
    if (this.#keeping === "content") this.#pieces.push(new Uint8Array(bytes));
    return true;
  }

  /** The record of this batch. To be called once. */
  finish(): InputDeed {
    return {
      type: "input",
      ...defined({ pane: this.pane }),
      offset: this.offset,
      length: this.#length,
      ...this.#kept(),
      ...(this.#isSecret ? { secret: true } : {}),
      ...(this.#fate === "refused" ? { refused: true } : {}),
      ...(this.#fate === "resent" ? { resent: true } : {}),
    };
  }

  #kept(): Pick<InputDeed, "text" | "base64" | "sha256"> {
    if (this.#hash !== undefined) return { sha256: this.#hash.digest("hex") };
    if (this.#keeping === "length") return {};
    const bytes = whole(this.#pieces);
    // A key may come in two pieces, and a paste may be anything.
    return isUtf8(bytes) ? { text: bytes } : { base64: bytes };
  }
}

function whole(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only !== undefined) return only;
  const all = joined(pieces);
  for (const piece of pieces) release(piece);
  return all;
}
