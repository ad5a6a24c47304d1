// The person's terminal: raw mode on and off, its size, and giving it back as it was found however the program ends.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import tty, { type ReadStream, type WriteStream } from "node:tty";
import { MAX_COLS, MAX_ROWS } from "sandbox-stdio/core";

const STDIN = 0;
const STDOUT = 1;

export type TerminalStreams = { readonly input: ReadStream; readonly output: WriteStream };

/** Asked at the start: a terminal that has gone is none. */
const isInputTerminal = tty.isatty(STDIN);
const areTerminals = isInputTerminal && tty.isatty(STDOUT);

/** Whether standard input is typed. */
export function isInputTyped(): boolean {
  return isInputTerminal;
}

/**
 * Standard input and output where both are terminals. `process.stdout` is left alone otherwise: to look at it makes a pipe
 * non-blocking, also for every other process that has it, and one that is full must then be tried again and again.
 */
export function terminalStreams(): TerminalStreams | undefined {
  if (!areTerminals) return undefined;
  const { stdin: input, stdout: output } = process;
  return { input, output };
}

/** The window's size, as much of it as a process may have; undefined where the terminal does not know it. */
export function sizeOf(output: WriteStream): { cols: number; rows: number } | undefined {
  const [cols, rows] = output.getWindowSize();
  return cols > 0 && rows > 0 ? { cols: Math.min(cols, MAX_COLS), rows: Math.min(rows, MAX_ROWS) } : undefined;
}

/** The one that is in raw mode. */
let taken: RawTerminal | undefined;

/** Gives the terminal back if it was taken: for an unexpected end. */
export function giveBackTerminal(): void {
  taken?.leave();
}

export class RawTerminal {
  readonly #streams: TerminalStreams;
  /** The bytes to draw when it is given back. */
  readonly #farewell: () => string;
  #isRaw = false;
  readonly #onContinue: () => void;

  constructor(streams: TerminalStreams, farewell: () => string) {
    this.#streams = streams;
    this.#farewell = farewell;
    // The shell has set its own modes while this program was stopped; libuv still thinks that its own hold.
    this.#onContinue = () => {
      this.#setRaw(false);
      this.#setRaw(true);
    };
  }

  get isRaw(): boolean {
    return this.#isRaw;
  }

  enter(): void {
    this.#isRaw = true;
    taken = this;
    // The reader of a terminal learns that it has gone. It can't be given back either, which no person need know.
    this.#streams.input.on("error", () => undefined);
    process.on("exit", giveBackTerminal);
    this.#setRaw(true);
    process.on("SIGCONT", this.#onContinue);
  }

  /** Stops this program, with the terminal as it was found; a shell's `fg` goes on. @param resume The bytes to draw then. */
  suspend(undo = "", resume = ""): void {
    if (!this.#isRaw) return;
    this.#draw(undo);
    this.#setRaw(false);
    // The handler of SIGCONT makes it raw again.
    if (resume !== "") process.once("SIGCONT", () => this.#draw(resume));
    process.kill(process.pid, "SIGTSTP");
  }

  /** To be called when everything that was to be drawn has been. */
  leave(): void {
    if (!this.#isRaw) return;
    this.#isRaw = false;
    taken = undefined;
    process.off("exit", giveBackTerminal);
    process.off("SIGCONT", this.#onContinue);
    this.#draw(this.#farewell());
    this.#setRaw(false);
  }

  #draw(text: string): void {
    try {
      fs.writeSync(STDOUT, text);
    } catch {
      // The terminal is gone, or full: it can't be given back.
    }
  }

  #setRaw(isRaw: boolean): void {
    this.#streams.input.setRawMode(isRaw);
    // Node's raw mode leaves output processing on: a bare line feed, which full-screen programs use to go straight down,
    // would also go to the left. Leaving raw mode puts everything back as it was before the first time.
    if (isRaw) spawnSync("stty", ["-opost"], { stdio: [STDIN, "ignore", "ignore"] });
  }
}
