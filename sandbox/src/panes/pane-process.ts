// One pane of a tmux session, in a process's place: its output is stdout, input is typed into it, and closing the pane is the exit.

import { STREAM_STDOUT } from "sandbox-stdio/core";
import type { ChildProcess, ExitStatus, OutputSink, ProcessEvents } from "../process/process.ts";
import type { PaneFollower, PaneOutput } from "./pane-output.ts";
import type { SharedPanes } from "./shared-panes.ts";

/** Signals that a terminal sends for a key. Other signals can be sent by `kill` in the pane. */
const KEYS: Readonly<Record<string, number>> = { SIGINT: 0x03, SIGQUIT: 0x1c, SIGTSTP: 0x1a };
const END_OF_FILE = 0x04;
/** After a drawing that a flood has overtaken, the next one waits for this multiple of the time that it took … */
const PAUSE_FACTOR = 3;
/** … but not longer than this. */
const MAX_PAUSE_MS = 1_000;

type Size = { readonly cols: number; readonly rows: number };

export class PaneProcess implements ChildProcess, PaneFollower {
  /** The pane's program is tmux's child, not ours. */
  readonly pid = 0;
  readonly tty = true;
  readonly #panes: SharedPanes;
  readonly #pane: string;
  readonly #sink: OutputSink;
  readonly #events: ProcessEvents;
  readonly #output: PaneOutput;
  /** Where it continues in the pane's log. Undefined: it has no screen yet. */
  #cursor: number | undefined;
  /** The size that was last reported. */
  #size: Size;
  #isHeld = false;
  #isPumping = false;
  #isDrawing = false;
  #isGone = false;
  #isOver = false;

  /** @returns undefined where there is no such pane. */
  static open(panes: SharedPanes, pane: string, sink: OutputSink, events: ProcessEvents): PaneProcess | undefined {
    const output = panes.outputOf(pane);
    if (output === undefined) return undefined;
    const process = new PaneProcess(panes, pane, output, sink, events);
    output.followers.add(process);
    if (output.isOnlyDrawing) process.#cursor = 0;
    // No callback runs inside the call that opens the pane.
    setImmediate(() => process.pump());
    return process;
  }

  private constructor(panes: SharedPanes, pane: string, output: PaneOutput, sink: OutputSink, events: ProcessEvents) {
    this.#panes = panes;
    this.#pane = pane;
    this.#output = output;
    this.#sink = sink;
    this.#events = events;
    this.#size = output.log.sizeAt(output.log.endOffset);
  }

  // ---- PaneFollower ----------------------------------------------------------------------------------------------

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Passes on the log's new output, and a drawing in place of output that the log has forgotten. */
  pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    while (!this.#isHeld && !this.#isDrawing && !this.#isOver && this.#passNext());
    this.#isPumping = false;
  }

  /** @returns Whether there may be more. */
  #passNext(): boolean {
    const { log } = this.#output;
    const item = this.#cursor === undefined ? undefined : log.itemAt(this.#cursor);
    if (this.#cursor === undefined || item === undefined || item.kind === "gap") {
      void this.#draw();
      return false;
    }
    this.#sized(log.sizeAt(this.#cursor));
    if (item.kind === "end") {
      if (this.#isGone) this.#end({ code: 0 });
      return false;
    }
    const room = this.#sink.reserve();
    const length = Math.min(room.length, item.length);
    log.copy(this.#cursor, length, room, 0);
    this.#cursor += length;
    this.#sink.commit(length, STREAM_STDOUT);
    // Flushed at once: it may lead to a hold.
    this.#sink.flush();
    return true;
  }

  async #draw(): Promise<void> {
    this.#isDrawing = true;
    const startMs = performance.now();
    const drawing = await this.#output.draw();
    if (this.#isOver) return;
    if (drawing === undefined) {
      this.#cursor = this.#output.log.endOffset;
      this.#panes.session.draw(this.#pane);
    } else if (!this.#isHeld) {
      this.#sized(drawing);
      this.#pass(drawing.bytes);
      this.#cursor = drawing.offset;
    }
    const isOvertaken = this.#cursor !== undefined && this.#cursor < this.#output.log.startOffset;
    const tookMs = performance.now() - startMs;
    const goOn = (): void => {
      this.#isDrawing = false;
      this.pump();
    };
    if (isOvertaken) setTimeout(goOn, Math.min(MAX_PAUSE_MS, PAUSE_FACTOR * tookMs));
    else goOn();
  }

  #pass(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const room = this.#sink.reserve();
      const length = Math.min(room.length, bytes.length - at);
      room.set(bytes.subarray(at, at + length));
      this.#sink.commit(length, STREAM_STDOUT);
      at += length;
    }
    this.#sink.flush();
  }

  #sized({ cols, rows }: Size): void {
    if (cols === this.#size.cols && rows === this.#size.rows) return;
    this.#size = { cols, rows };
    this.#sink.flush();
    this.#events.onResized?.(cols, rows);
  }

  writable(): void {
    this.#events.onWritable();
  }

  /** The exit follows the rest of its output, which waits for the release if it is held. */
  gone(): void {
    this.#isGone = true;
    this.pump();
  }

  // ---- ChildProcess ----------------------------------------------------------------------------------------------

  hold(): void {
    if (this.#isHeld || this.#isOver) return;
    this.#isHeld = true;
    this.#sink.flush();
  }

  release(): void {
    if (!this.#isHeld || this.#isOver) return;
    this.#isHeld = false;
    this.#panes.wanted(this.#pane);
    this.pump();
  }

  write(bytes: Uint8Array): number {
    return this.#isOver ? bytes.length : this.#panes.session.write(this.#pane, bytes);
  }

  /** A pane's input has no end: see {@link veof}. */
  closeStdin(): void {
    this.write(Uint8Array.of(END_OF_FILE));
  }

  veof(): number {
    return END_OF_FILE;
  }

  /** Asks tmux, which reports the new size. A page that draws panes gives no size: it follows tmux. */
  resize(cols: number, rows: number): void {
    const pane = this.#panes.session.find(this.#pane);
    if (this.#isOver || pane === undefined || (pane.cols === cols && pane.rows === rows)) return;
    this.#panes.act({ action: "resize", pane: this.#pane, cols, rows }, this, () => undefined);
  }

  signal(name: string): boolean {
    const key = KEYS[name];
    return key !== undefined && this.write(Uint8Array.of(key)) === 1;
  }

  /** Stops following the pane, which stays open in tmux: {@link PaneAction} `close` ends it. */
  signalAll(_name: string): void {
    if (this.#isOver) return;
    // No callback runs inside a call.
    setImmediate(() => this.#end({ code: 0 }));
  }

  #end(status: ExitStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#panes.unfollow(this.#pane, this.#output, this);
    this.#panes.giveBack(this);
    this.#sink.flush();
    this.#events.onExit(status);
  }
}
