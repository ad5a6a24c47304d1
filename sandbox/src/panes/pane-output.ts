// The output of one pane since the bridge follows it: the newest bytes, and the screen of all of them. Its readers are offsets.

import { MAX_COLS, MAX_FRAME_BYTES, MAX_ROWS, OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import { isOnlyDrawing, MAX_ONLY_DRAWING_BYTES } from "../screen/plain-output.ts";
import type { ScreenState } from "../screen/read-screen.ts";
import { REPLAY_BYTES, SessionScreen } from "../screen/session-screen.ts";

/** A drawing is output, so it may be longer than a snapshot. The log of its reader has four times as much room. */
const MAX_DRAWING_BYTES = 256 * 1024;

const ESC = 0x1b;
/** `ESC k` begins the name of a window for tmux and screen only: a terminal would show the name. */
const NAME = "\x1bk";
/** Behind ESC: begins a string that terminals ignore. */
const IGNORED_STRING = "X".charCodeAt(0);

type Size = { readonly cols: number; readonly rows: number };

/** The drawing of a pane's screen as it was before `offset`. */
export type PaneDrawing = Pick<ScreenState, "offset" | "cols" | "rows"> & { readonly bytes: Uint8Array };

export interface PaneFollower {
  /** Whether it reads no more for now. */
  readonly isHeld: boolean;
  /** The log has more output, or has ended. */
  pump(): void;
  /** The pane takes input again. */
  writable(): void;
  /** The pane is gone: the log gets no more output. */
  gone(): void;
}

export class PaneOutput {
  readonly log: OutputLog;
  readonly followers = new Set<PaneFollower>();
  /** Output since a reader last took any. */
  unreadBytes = 0;
  readonly #screen: SessionScreen;
  #size: Size;
  #endsInEscape = false;

  constructor(size: Size) {
    this.#size = size;
    this.log = new OutputLog(size);
    this.#screen = new SessionScreen(this.log);
  }

  /** Whether its screen takes memory: the screen of a short log is parsed when it is read. */
  get isLarge(): boolean {
    return this.log.endOffset > REPLAY_BYTES;
  }

  /** Copies the bytes. */
  append(output: Uint8Array): void {
    const bytes = this.#withoutNames(output);
    // The screen must see each piece before the log forgets it.
    for (let at = 0; at < bytes.length; at += MAX_FRAME_BYTES) {
      this.log.append(bytes.subarray(at, at + MAX_FRAME_BYTES), STREAM_STDOUT);
      this.#screen.appended();
    }
  }

  #withoutNames(bytes: Uint8Array): Uint8Array {
    const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const isCut = this.#endsInEscape && bytes[0] === NAME.charCodeAt(1);
    if (bytes.length > 0) this.#endsInEscape = bytes.at(-1) === ESC;
    let at = isCut ? -1 : found.indexOf(NAME, 0, "latin1");
    if (at < 0 && !isCut) return bytes;
    const copy = new Uint8Array(bytes);
    do {
      copy[at + 1] = IGNORED_STRING;
      at = found.indexOf(NAME, at + 1, "latin1");
    } while (at >= 0);
    return copy;
  }

  sized({ cols, rows }: Size): void {
    if (cols === this.#size.cols && rows === this.#size.rows) return;
    this.#size = { cols, rows };
    this.log.markSize(cols, rows);
  }

  /** Whether a new reader may get the log's bytes in place of a drawing, which would need an emulator. */
  get isOnlyDrawing(): boolean {
    const { log } = this;
    if (log.startOffset > 0 || log.endOffset > MAX_ONLY_DRAWING_BYTES) return false;
    const bytes = new Uint8Array(log.endOffset);
    log.copy(0, bytes.length, bytes, 0);
    return isOnlyDrawing(bytes);
  }

  /** The screen at the log's end, or at the last position before it outside a sequence. Undefined if there is none. */
  async draw(): Promise<PaneDrawing | undefined> {
    const state = await this.#screen.read({ scrollback: 0, runs: false, ansi: true, ansiBytes: MAX_DRAWING_BYTES });
    if (state?.ansi === undefined) return undefined;
    const { offset, cols, rows, ansi } = state;
    return { offset, cols, rows, bytes: Buffer.from(ansi) };
  }

  close(): void {
    this.#screen.close();
  }
}

/** Limits the size of a pane to that of our terminals: messages with a larger one are invalid. */
export function shownSize({ cols, rows }: Size): Size {
  return { cols: Math.min(cols, MAX_COLS), rows: Math.min(rows, MAX_ROWS) };
}
