// The program `sbx-stdio`. The only file that ends the process.

import fs from "node:fs";
import os from "node:os";
import { CliError, EXIT, type Outcome } from "./base/outcome.ts";
import { oneLine } from "./base/plain-text.ts";
import { giveBackPrinted } from "./base/printed-screen.ts";
import { giveBackTerminal } from "./base/tty.ts";
import { fetchDirectly } from "./connection/direct-fetch.ts";
import { exit, letGoOfLostTerminals } from "./exit.ts";
import { run } from "./run.ts";

/** Exit anyway if the signal did not end the process. */
const SIGNAL_MS = 1_000;

function say(line: string): void {
  try {
    fs.writeSync(2, `sbx-stdio: ${line}\n`);
  } catch {
    // Standard error has no reader; the exit code remains.
  }
}

function end(outcome: Outcome): void {
  giveBackPrinted();
  if (outcome.kind === "exit") exit(outcome.code);
  // Die by the signal, so that the parent process sees it.
  letGoOfLostTerminals();
  const code = 128 + (os.constants.signals[outcome.signal] ?? 0);
  process.kill(process.pid, outcome.signal);
  setTimeout(() => exit(code), SIGNAL_MS);
}

function fail(error: unknown): void {
  giveBackTerminal();
  giveBackPrinted();
  if (error instanceof CliError) {
    // The message may quote a file or address of another person.
    say(oneLine(error.message));
    exit(error.exitCode);
  }
  say(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  exit(EXIT.failed);
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
fetchDirectly();
run(process.argv.slice(2), process.env).then(end, fail);
