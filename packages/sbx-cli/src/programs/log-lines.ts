// Splits output into lines, each with its offset and the arrival time of its first byte. Pure.

import { defined } from "sandbox-stdio/core";

/** Bytes from `offset` up to the next entry's arrived at this time. */
export type OutputTime = { readonly offset: number; readonly at: string };

/** `next`: offset of the next line. `base64` replaces `text` if the bytes are not UTF-8. */
export type LogLine = { readonly offset: number; readonly next: number; readonly time?: string } & (
  | { readonly text: string }
  | { readonly base64: string }
);

/** Longer lines are split. */
const MAX_LINE = 1_048_576;
const [LF, CR] = [0x0a, 0x0d];

export class LogLines {
  #rest = Buffer.alloc(0);
  #offset = 0;
  /** Arrival time of the incomplete line's first byte. */
  #time: string | undefined;

  /** @param offset Of the first byte, which follows the previous ones. @returns The complete lines. */
  add(bytes: Buffer, offset: number, times: readonly OutputTime[]): LogLine[] {
    const lines: LogLine[] = [];
    if (this.#rest.length === 0) this.#offset = offset;
    let at = 0;
    while (at < bytes.length) {
      const start = offset + at;
      if (this.#rest.length === 0) this.#time = times.findLast((one) => one.offset <= start)?.at;
      const feed = bytes.indexOf(LF, at);
      const end = feed < 0 ? bytes.length : feed + 1;
      this.#rest = Buffer.concat([this.#rest, bytes.subarray(at, end)]);
      at = end;
      if (feed >= 0 || this.#rest.length >= MAX_LINE) lines.push(...this.rest());
    }
    return lines;
  }

  /** The incomplete line, when nothing follows. */
  rest(): LogLine[] {
    const [bytes, offset, time] = [this.#rest, this.#offset, this.#time];
    if (bytes.length === 0) return [];
    this.#rest = Buffer.alloc(0);
    this.#offset = offset + bytes.length;
    const target = { offset, next: this.#offset, ...defined({ time }) };
    return [{ ...target, ...contentOf(withoutEnd(bytes)) }];
  }
}

function withoutEnd(bytes: Buffer): Buffer {
  if (bytes.at(-1) !== LF) return bytes;
  return bytes.subarray(0, bytes.at(-2) === CR ? -2 : -1);
}

function contentOf(bytes: Buffer): { text: string } | { base64: string } {
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes) ? { text } : { base64: bytes.toString("base64") };
}
