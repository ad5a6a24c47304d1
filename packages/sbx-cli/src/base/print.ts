// A command's result, on standard output; and lines for a person, beside it.

import fs from "node:fs";
import tty from "node:tty";
import { CliError, EXIT, exitWith, type Outcome } from "./outcome.ts";
import { Output } from "./output.ts";
import { oneLine } from "./plain-text.ts";
import { printable, printedEnd } from "./printed-screen.ts";

const STDOUT = 1;
const STDERR = 2;
/** So long a line waits for room in a full pipe, and so often it is tried. */
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

  /** Whether the output has no reader any more. */
  get isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Resolves when it has been written: the caller reads on only then. A terminal gets it as a replay. */
  async print(bytes: string | Uint8Array, fd: 1 | 2 = STDOUT): Promise<void> {
    const all = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    for (const part of printable(fd, all)) this.#output.push(fd, part);
    await this.#output.flushed();
  }

  /** A line for a person. */
  aside(line: string): Promise<void> {
    return this.print(`sbx-stdio: ${oneLine(line)}\n`, STDERR);
  }

  /** @param code The command's exit code, if all could be printed. @throws {CliError} If it could not be written. */
  async end(code: number = EXIT.ok): Promise<Outcome> {
    for (const { fd, bytes } of printedEnd()) this.#output.push(fd, bytes);
    await this.#output.flushed();
    const fault = this.#fault;
    if (fault === undefined) return exitWith(code);
    // A lack of readers is no fault.
    if (fault.code === "EPIPE") return exitWith(EXIT.brokenPipe);
    throw new CliError(`cannot write the output: ${fault.message}`);
  }
}

export async function print(text: string): Promise<Outcome> {
  const printer = new Printer();
  await printer.print(text);
  return printer.end();
}

/** A line for a person. One that can't be said is dropped: the work is what counts. */
export function aside(line: string): void {
  const giveUpAtMs = performance.now() + FULL_MS;
  while (!isSaid(`sbx-stdio: ${line}\n`) && performance.now() < giveUpAtMs) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
  }
}

/** @returns Whether there is no more to try: another program that has the pipe may have made it non-blocking, and it is full. */
function isSaid(text: string): boolean {
  try {
    fs.writeSync(STDERR, text);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "EAGAIN");
  }
}

/** A line that only a person has use for: a pipe gets none. To look at `process.stderr` would make it non-blocking. */
export function asideToPerson(line: string): void {
  if (tty.isatty(STDERR)) aside(line);
}
