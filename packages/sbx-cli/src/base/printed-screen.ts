// A terminal that a command prints a program's output on, as a replay: nothing in it makes the terminal type, ring or copy, and
// what it leaves switched on is undone however the command ends. A pipe gets the bytes as they are.

import fs from "node:fs";
import tty from "node:tty";
import { MAX_COLS, MAX_ROWS } from "sandbox-stdio/core";
import { isIgnoredFromStart } from "./ignored-signals.ts";
import { TerminalOutput } from "./terminal-output.ts";

const STDOUT = 1;
const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Those that have been drawn on, by their descriptors. */
const screens = new Map<number, TerminalOutput>();
let isListening = false;

/** @returns What to write of these bytes: they themselves, if that is no terminal. */
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

/** @returns What is to be written at the end: the rest, and what gives the terminal back as it was found. */
export function printedEnd(): readonly { readonly fd: number; readonly bytes: Uint8Array }[] {
  const ends = [...screens].map(([fd, screen]) => {
    const rest = screen.flush();
    return { fd, bytes: Buffer.concat([rest, Buffer.from(screen.resetSequence)]) };
  });
  screens.clear();
  return ends.filter(({ bytes }) => bytes.length > 0);
}

/** The same at once: for an end that waits for nothing. */
export function giveBackPrinted(): void {
  for (const { fd, bytes } of printedEnd()) {
    try {
      fs.writeSync(fd, bytes);
    } catch {
      // The terminal is gone, or full: it can't be given back.
    }
  }
}

function sizeOf(fd: 1 | 2) {
  const { columns, rows } = fd === STDOUT ? process.stdout : process.stderr;
  return { cols: columns || MAX_COLS, rows: rows || MAX_ROWS };
}

/** A signal that nobody else here deals with ends the program, after that. */
function listen(): void {
  if (isListening) return;
  isListening = true;
  for (const signal of ENDING) {
    if (isIgnoredFromStart(signal, process.env)) continue;
    process.once(signal, () => {
      if (process.listenerCount(signal) > 0) return;
      giveBackPrinted();
      process.kill(process.pid, signal);
    });
  }
}
