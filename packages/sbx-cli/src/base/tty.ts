// The local terminal: raw mode, size, and restoring it however the program ends.

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import tty, { type ReadStream, type WriteStream } from "node:tty";
import { MAX_COLS, MAX_ROWS } from "sandbox-stdio/core";

const STDIN = 0;
const STDOUT = 1;

export type TerminalStreams = { readonly input: ReadStream; readonly output: WriteStream };

/** Determined at the start: a terminal that has gone no longer counts as one. */
const isInputTerminal = tty.isatty(STDIN);
const areTerminals = isInputTerminal && tty.isatty(STDOUT);

/** Whether a person types standard input. */
export function isInputTyped(): boolean {
  return isInputTerminal;
}

/**
 * Standard input and output if both are terminals. Touching `process.stdout` otherwise would make a pipe non-blocking for every
 * process that shares it.
 */
export function terminalStreams(): TerminalStreams | undefined {
  if (!areTerminals) return undefined;
  const { stdin: input, stdout: output } = process;
  return { input, output };
}

/** The window's size, within the protocol's limits; undefined if the terminal does not know it. */
export function sizeOf(output: WriteStream): { cols: number; rows: number } | undefined {
  const [cols, rows] = output.getWindowSize();
  return cols > 0 && rows > 0 ? { cols: Math.min(cols, MAX_COLS), rows: Math.min(rows, MAX_ROWS) } : undefined;
}

/** The terminal that is in raw mode. */
let active: RawTerminal | undefined;

/** Restores the terminal at an unexpected end. */
export function giveBackTerminal(): void {
  active?.leave();
}

export class RawTerminal {
  readonly #streams: TerminalStreams;
  /** What to write when leaving. */
  readonly #farewell: () => string;
  #isRaw = false;
  readonly #onContinue: () => void;

  constructor(streams: TerminalStreams, farewell: () => string) {
    this.#streams = streams;
    this.#farewell = farewell;
    // The shell changed the modes while this program was stopped, but libuv thinks that they still hold.
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
    active = this;
    // The reader reports a terminal that is gone.
    this.#streams.input.on("error", () => undefined);
    process.on("exit", giveBackTerminal);
    this.#setRaw(true);
    process.on("SIGCONT", this.#onContinue);
  }

  /** Suspends this program with the terminal restored, until `fg`. @param resume What to write then. */
  suspend(undo = "", resume = ""): void {
    if (!this.#isRaw) return;
    this.#draw(undo);
    this.#setRaw(false);
    // The handler of SIGCONT restores raw mode.
    if (resume !== "") process.once("SIGCONT", () => this.#draw(resume));
    process.kill(process.pid, "SIGTSTP");
  }

  /** Call after all output is written. */
  leave(): void {
    if (!this.#isRaw) return;
    this.#isRaw = false;
    active = undefined;
    process.off("exit", giveBackTerminal);
    process.off("SIGCONT", this.#onContinue);
    this.#draw(this.#farewell());
    this.#setRaw(false);
  }

  #draw(text: string): void {
    try {
      fs.writeSync(STDOUT, text);
    } catch {
      // The terminal is gone or full.
    }
  }

  #setRaw(isRaw: boolean): void {
    this.#streams.input.setRawMode(isRaw);
    // Node's raw mode leaves output processing on, which turns the bare line feeds of full-screen programs into CR LF. Leaving
    // raw mode restores everything.
    if (isRaw) spawnSync("stty", ["-opost"], { stdio: [STDIN, "ignore", "ignore"] });
  }
}
