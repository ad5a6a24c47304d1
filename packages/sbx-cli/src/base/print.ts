// Prints a command's result to standard output, and notices beside it.

import fs from "node:fs";
import tty from "node:tty";
import { codeOf } from "./errors.ts";
import { CliError, EXIT, exitWith, type Outcome } from "./outcome.ts";
import { Output } from "./output.ts";
import { oneLine } from "./plain-text.ts";
import { printable, printedEnd } from "./printed-screen.ts";

const STDOUT = 1;
const STDERR = 2;
/** Limit of waiting for a full pipe, and the pause between attempts. */
const FULL_MS = 500;
const AGAIN_MS = 20;

/** Standard output and standard error of a command that prints as it goes. */
export class Printer {
  #fault: NodeJS.ErrnoException | undefined;
  readonly #output = new Output({
    written: () => undefined,
    broken: (_fd, error) => {
      this.#fault = error;
    },
  });

  /** Whether the output's reader has gone. */
  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Resolves when written, so that the caller does not read ahead. On a terminal the output is drawn as a replay. */
  async print(bytes: string | Uint8Array, fd: 1 | 2 = STDOUT): Promise<void> {
    const all = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    for (const part of printable(fd, all)) this.#output.push(fd, part);
    await this.#output.flushed();
  }

  /** Prints a notice to standard error. */
  notify(line: string): Promise<void> {
    return this.print(`sbx-stdio: ${oneLine(line)}\n`, STDERR);
  }

  /** @param code The exit code if everything was printed. @throws {CliError} If writing failed. */
  async end(code: number = EXIT.ok): Promise<Outcome> {
    for (const { fd, bytes } of printedEnd()) this.#output.push(fd, bytes);
    await this.#output.flushed();
    const fault = this.#fault;
    if (fault === undefined) return exitWith(code);
    if (fault.code === "EPIPE") return exitWith(EXIT.brokenPipe);
    throw new CliError(`cannot write the output: ${fault.message}`);
  }
}

export async function print(text: string): Promise<Outcome> {
  const printer = new Printer();
  await printer.print(text);
  return printer.end();
}

/** Prints a notice to standard error, and drops it if it can't be written: the work has priority. */
export function notify(line: string): void {
  const giveUpAtMs = performance.now() + FULL_MS;
  while (!tryWrite(`sbx-stdio: ${line}\n`) && performance.now() < giveUpAtMs) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
  }
}

/** @returns false if the pipe is full: another program may have made it non-blocking. */
function tryWrite(text: string): boolean {
  try {
    fs.writeSync(STDERR, text);
    return true;
  } catch (error) {
    return codeOf(error) !== "EAGAIN";
  }
}

/** Prints a notice if a person sees it. Touching `process.stderr` would make a pipe non-blocking. */
export function notifyPerson(line: string): void {
  if (tty.isatty(STDERR)) notify(line);
}
