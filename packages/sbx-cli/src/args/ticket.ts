// A ticket that is not on the command line, where other users of the machine could read it: in a file, or the first line
// of standard input.

import fs from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { CliError } from "../base/outcome.ts";

export type TicketSource = { readonly from: "stdin" } | { readonly from: "file"; readonly path: string };

const STDIN = 0;
/** Longer ones no server makes. */
const MAX_BYTES = 8192;
const RETRY_MS = 20;

/** @throws {CliError} Where it can't be read, or no request could carry it. */
export async function readTicket(source: TicketSource): Promise<string> {
  const text = source.from === "stdin" ? await firstLine() : fromFile(source.path);
  const ticket = text.trim();
  if (ticket === "") throw new CliError(`there is no ticket ${placeOf(source)}`);
  if (!/^[\w.~-]+$/.test(ticket)) throw new CliError(`what stands ${placeOf(source)} is no ticket`);
  return ticket;
}

function placeOf(source: TicketSource): string {
  return source.from === "stdin" ? "on standard input" : `in ${source.path}`;
}

function fromFile(path: string): string {
  try {
    return fs.readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): CliError {
  return new CliError(`cannot read the ticket: ${error instanceof Error ? error.message : String(error)}`);
}

/** Of standard input, byte by byte: the bytes after the line are the process's input. */
export async function firstLine(): Promise<string> {
  const line: number[] = [];
  const byte = Buffer.alloc(1);
  while (line.length < MAX_BYTES) {
    try {
      if (fs.readSync(STDIN, byte, 0, 1, null) === 0 || byte[0] === 0x0a) break;
      line.push(byte[0] ?? 0);
    } catch (error) {
      // EOF: some systems say it of a closed pipe. EAGAIN: our parent gave us a descriptor that does not block.
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") break;
      if (code !== "EAGAIN") throw unreadable(error);
      await delay(RETRY_MS);
    }
  }
  return Buffer.from(line).toString("latin1");
}
