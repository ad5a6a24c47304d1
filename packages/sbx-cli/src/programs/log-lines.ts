// Output cut into lines, each with its place in the log and the time at which its first byte came. Pure.

/** Bytes from `offset` on came at that time, up to the next one's. */
export type OutputTime = { readonly offset: number; readonly at: string };

/** `next`: where the following line begins. `base64` stands in place of `text` where the bytes are no UTF-8. */
export type LogLine = { readonly offset: number; readonly next: number; readonly time?: string } & (
  | { readonly text: string }
  | { readonly base64: string }
);

/** A line that is longer comes in pieces. */
const MAX_LINE = 1_048_576;
const [LF, CR] = [0x0a, 0x0d];

export class LogLines {
  #rest = Buffer.alloc(0);
  #offset = 0;
  /** Of the first byte that waits for its line's end. */
  #time: string | undefined;

  /** @param offset Of the first of the bytes, which follow those before. @returns The lines that are whole now. */
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

  /** What has no end yet, as a line: nothing follows it. */
  rest(): LogLine[] {
    const [bytes, offset, time] = [this.#rest, this.#offset, this.#time];
    if (bytes.length === 0) return [];
    this.#rest = Buffer.alloc(0);
    this.#offset = offset + bytes.length;
    const place = { offset, next: this.#offset, ...(time === undefined ? {} : { time }) };
    return [{ ...place, ...contentOf(withoutEnd(bytes)) }];
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
