// Parses the output of `tmux -C` and `tmux -CC`: notification lines, and blocks that answer commands. The stream may be cut
// anywhere; a pane's output is exact. Knows nothing of the commands themselves.

import { latin1 } from "../text/latin1.ts";
import { joined } from "../text/utf8-text.ts";
import { type Notification, readNotification } from "./notifications.ts";

/** Longest line accepted: tmux's are far shorter. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Splits a stream of bytes into lines, whatever pieces it arrives in. A line within one piece is a view, others are copies. */
class ControlLines {
  #pieces: Uint8Array[] = [];
  #length = 0;

  /** @returns Why the stream can't be parsed any further, or undefined. */
  push(chunk: Uint8Array, take: (line: Uint8Array) => void): string | undefined {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end < 0) break;
      take(withoutReturn(this.#complete(chunk.subarray(start, end))));
      start = end + 1;
    }
    if (start === chunk.length) return undefined;
    // Not slice(): on a Buffer it returns a view.
    this.#pieces.push(new Uint8Array(chunk.subarray(start)));
    this.#length += chunk.length - start;
    if (this.#length <= MAX_LINE_BYTES) return undefined;
    this.#pieces = [];
    return `a line of more than ${MAX_LINE_BYTES} bytes`;
  }

  #complete(last: Uint8Array): Uint8Array {
    if (this.#length === 0) return last;
    const line = joined([...this.#pieces, last]);
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}

/** Until a PTY is raw, lines end with CR LF. Output can't end with a bare CR: tmux writes that as `\015`. */
function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

/** The lines between `%begin` and `%end`, or `%error`. */
export type Reply = {
  readonly type: "reply";
  /** False if tmux ran the command by itself, such as the one that the client was started with. */
  readonly isOurs: boolean;
  readonly isError: boolean;
  /** Without line ends. Valid until the next `push`. */
  readonly lines: readonly Uint8Array[];
};

/** The stream can't be parsed any further: no event follows. */
export type ControlFault = { readonly type: "fault"; readonly detail: string };

export type ControlEvent = Reply | Notification | ControlFault;

/** Longest answer accepted: a pane's whole history is the largest one requested. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;

const BEGIN = /^%begin (\d+ \d+ (\d+))$/;
/** With `-CC`, begins a control string before the first line, which a terminal would swallow whole. */
const START = "\u001bP1000p";
/** … and its end, after `%exit`. */
const END = "\u001b\\";

type Block = { readonly stamp: string; readonly isOurs: boolean; readonly lines: Uint8Array[]; bytes: number };

export class ControlMode {
  readonly #lines = new ControlLines();
  #block: Block | undefined;
  #hasStarted = false;
  #hasFailed = false;

  /** Parses the next bytes, and keeps no view of them. The events' bytes are views of them. */
  push(chunk: Uint8Array): ControlEvent[] {
    const events: ControlEvent[] = [];
    if (this.#hasFailed) return events;
    const fault = this.#lines.push(chunk, (line) => {
      if (!this.#hasFailed) this.#readLine(line, events);
    });
    if (fault !== undefined) this.#fail(fault, events);
    this.#keepBlock();
    return events;
  }

  #readLine(line: Uint8Array, events: ControlEvent[]): void {
    const block = this.#block;
    if (block !== undefined) {
      this.#readBlock(block, line, events);
      return;
    }
    const bytes = this.#withoutStart(line);
    // An empty line and the end of the control string carry nothing.
    if (bytes.length === 0 || (bytes.length === END.length && startsWith(bytes, END))) return;
    const begin = startsWith(bytes, "%begin ") ? BEGIN.exec(latin1(bytes.subarray(0, 256))) : null;
    if (begin !== null) {
      this.#block = { stamp: begin[1] ?? "", isOurs: begin[2] !== "0", lines: [], bytes: 0 };
      return;
    }
    const notification = readNotification(bytes);
    if (notification === undefined) this.#fail(`not a line of control mode: ${latin1(bytes.subarray(0, 60))}`, events);
    else events.push(notification);
  }

  #readBlock(block: Block, line: Uint8Array, events: ControlEvent[]): void {
    const isError = startsWith(line, `%error ${block.stamp}`);
    // A pane's text may begin with `%end` too, so compare the stamp with the block's beginning.
    if (
      (isError || startsWith(line, `%end ${block.stamp}`)) &&
      line.length === block.stamp.length + (isError ? 7 : 5)
    ) {
      this.#block = undefined;
      events.push({ type: "reply", isOurs: block.isOurs, isError, lines: block.lines });
      return;
    }
    block.bytes += line.length + 1;
    if (block.bytes > MAX_REPLY_BYTES) this.#fail(`an answer of more than ${MAX_REPLY_BYTES} bytes`, events);
    else block.lines.push(line);
  }

  #withoutStart(line: Uint8Array): Uint8Array {
    if (this.#hasStarted) return line;
    this.#hasStarted = true;
    return startsWith(line, START) ? line.subarray(START.length) : line;
  }

  /** An answer that continues in the next chunk must not be a view of this one. */
  #keepBlock(): void {
    const lines = this.#block?.lines;
    if (lines === undefined) return;
    for (let i = lines.length - 1; i >= 0; i--) {
      const line = lines[i];
      // Lines from an earlier chunk are copies already.
      if (line === undefined || line.byteLength === line.buffer.byteLength) return;
      lines[i] = new Uint8Array(line);
    }
  }

  #fail(detail: string, events: ControlEvent[]): void {
    this.#hasFailed = true;
    this.#block = undefined;
    events.push({ type: "fault", detail });
  }
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  if (bytes.length < text.length) return false;
  for (let i = 0; i < text.length; i++) if (bytes[i] !== text.charCodeAt(i)) return false;
  return true;
}
