// Prints a process's output to a terminal as a replay: it can't make the terminal type, ring or copy, and modes that it leaves on
// are reset however the command ends. A pipe receives the bytes unchanged.

import fs from "node:fs";
import tty from "node:tty";
import { MAX_COLS, MAX_ROWS } from "sandbox-stdio/core";
import { ENDING_SIGNALS, isIgnoredFromStart } from "./ignored-signals.ts";
import { TerminalOutput } from "./terminal-output.ts";

const STDOUT = 1;

/** Screens that were drawn on, by descriptor. */
const screens = new Map<number, TerminalOutput>();
let isListening = false;

/** @returns What to write for these bytes; the bytes themselves unless `fd` is a terminal. */
export function printable(fd: 1 | 2, bytes: Uint8Array): readonly Uint8Array[] {
  if (!tty.isatty(fd)) return [bytes];
  const screen =
    screens.get(fd) ??
    new TerminalOutput(
      () => false,
      () => sizeOf(fd),
    );
  screens.set(fd, screen);
  listen();
  return screen.draw(bytes, 0, Number.POSITIVE_INFINITY).parts;
}

/** @returns What to write at the end: held-back bytes, and the reset of the terminal. */
export function printedEnd(): readonly { readonly fd: number; readonly bytes: Uint8Array }[] {
  const ends = [...screens].map(([fd, screen]) => {
    const rest = screen.flush();
    return { fd, bytes: Buffer.concat([rest, Buffer.from(screen.resetSequence)]) };
  });
  screens.clear();
  return ends.filter(({ bytes }) => bytes.length > 0);
}

/** Writes the same synchronously, for an immediate end. */
export function giveBackPrinted(): void {
  for (const { fd, bytes } of printedEnd()) {
    try {
      fs.writeSync(fd, bytes);
    } catch {
      // The terminal is gone or full.
    }
  }
}

function sizeOf(fd: 1 | 2) {
  const { columns, rows } = fd === STDOUT ? process.stdout : process.stderr;
  return { cols: columns || MAX_COLS, rows: rows || MAX_ROWS };
}

/** Restores the terminal before a signal ends the program, unless somebody else handles the signal. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  for (const signal of ENDING_SIGNALS) {
    if (isIgnoredFromStart(signal, process.env)) continue;
    process.once(signal, () => {
      if (process.listenerCount(signal) > 0) return;
      giveBackPrinted();
      process.kill(process.pid, signal);
    });
  }
}
