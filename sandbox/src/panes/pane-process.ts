// One pane of a tmux session, in a process's place: its output is stdout, bytes written to it are typed, and it ends when it
// is closed. Knows no sessions.

import { MAX_COLS, MAX_ROWS } from "sandbox-stdio/core";
import type { ChildProcess, ExitStatus, OutputSink, ProcessEvents } from "../process/process.ts";
import type { PaneFollower, SharedPanes } from "./shared-panes.ts";

/** Signals that a terminal makes of a key. All others are for a person who can see the program: `kill` in the pane. */
const KEYS: Readonly<Record<string, number>> = { SIGINT: 0x03, SIGQUIT: 0x1c, SIGTSTP: 0x1a };
const END_OF_FILE = 0x04;

type Size = { readonly cols: number; readonly rows: number };

export class PaneProcess implements ChildProcess, PaneFollower {
  /** The pane's program is tmux's child, not ours. */
  readonly pid = 0;
  readonly tty = true;
  readonly #panes: SharedPanes;
  readonly #pane: string;
  readonly #sink: OutputSink;
  readonly #events: ProcessEvents;
  /** As it was told last. */
  #size: Size;
  #isHeld = false;
  #isOver = false;

  /** @returns undefined where there is no such pane. */
  static open(panes: SharedPanes, pane: string, sink: OutputSink, events: ProcessEvents): PaneProcess | undefined {
    const process = new PaneProcess(panes, pane, sink, events);
    return panes.follow(pane, process) ? process : undefined;
  }

  private constructor(panes: SharedPanes, pane: string, sink: OutputSink, events: ProcessEvents) {
    this.#panes = panes;
    this.#pane = pane;
    this.#sink = sink;
    this.#events = events;
    const { cols = 0, rows = 0 } = panes.session.find(pane) ?? {};
    this.#size = shownSize({ cols, rows });
  }

  // ---- PaneFollower ----------------------------------------------------------------------------------------------

  get isHeld(): boolean {
    return this.#isHeld;
  }

  received(bytes: Uint8Array): void {
    // Another follower wants them still: this one is redrawn when it is released.
    if (this.#isHeld || this.#isOver) return;
    let at = 0;
    while (at < bytes.length) {
      const room = this.#sink.reserve();
      const length = Math.min(room.length, bytes.length - at);
      room.set(bytes.subarray(at, at + length));
      this.#sink.commit(length, 1);
      at += length;
    }
    this.#sink.flush();
  }

  writable(): void {
    this.#events.onWritable();
  }

  sized(paneCols: number, paneRows: number): void {
    const { cols, rows } = shownSize({ cols: paneCols, rows: paneRows });
    if (this.#isOver || (cols === this.#size.cols && rows === this.#size.rows)) return;
    this.#size = { cols, rows };
    this.#sink.flush();
    this.#events.onResized?.(cols, rows);
  }

  gone(): void {
    this.#end({ code: 0 });
  }

  // ---- ChildProcess ----------------------------------------------------------------------------------------------

  hold(): void {
    if (this.#isHeld || this.#isOver) return;
    this.#isHeld = true;
    this.#sink.flush();
    this.#panes.heldOrReleased(this.#pane);
  }

  release(): void {
    if (!this.#isHeld || this.#isOver) return;
    this.#isHeld = false;
    this.#panes.heldOrReleased(this.#pane);
    this.#panes.session.draw(this.#pane);
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

  /** Asks tmux, whose answer is {@link sized}. A page that draws panes gives no size: it follows tmux. */
  resize(cols: number, rows: number): void {
    const pane = this.#panes.session.find(this.#pane);
    if (this.#isOver || pane === undefined || (pane.cols === cols && pane.rows === rows)) return;
    this.#panes.act({ action: "resize", pane: this.#pane, cols, rows }, this, () => undefined);
  }

  signal(name: string): boolean {
    const key = KEYS[name];
    return key !== undefined && this.write(Uint8Array.of(key)) === 1;
  }

  /** Lets go of the pane, which goes on in tmux: {@link PaneAction} `close` ends it. */
  signalAll(_name: string): void {
    if (this.#isOver) return;
    this.#panes.unfollow(this.#pane, this);
    // Never inside the call that asks for it.
    setImmediate(() => this.#end({ code: 0 }));
  }

  #end(status: ExitStatus): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#panes.giveBack(this);
    this.#sink.flush();
    this.#events.onExit(status);
  }
}

/** Programs may give a pane more than a terminal may have here: a message with that could not be read. */
export function shownSize({ cols, rows }: Size): Size {
  return { cols: Math.min(cols, MAX_COLS), rows: Math.min(rows, MAX_ROWS) };
}
