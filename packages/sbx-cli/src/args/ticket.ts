// Reads a ticket from a file or the first line of standard input, since other users could see it on the command line.

import fs from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { codeOf, messageOf } from "../base/errors.ts";
import { CliError } from "../base/outcome.ts";

export type TicketSource = { readonly from: "stdin" } | { readonly from: "file"; readonly path: string };

const STDIN = 0;
const MAX_BYTES = 8192;
const RETRY_MS = 20;

/** @throws {CliError} If it can't be read, or an HTTP header can't carry it. */
export async function readTicket(source: TicketSource): Promise<string> {
  const text = source.from === "stdin" ? await firstLine() : fromFile(source.path);
  const ticket = text.trim();
  if (ticket === "") throw new CliError(`no ticket ${placeOf(source)}`);
  if (!/^[\w.~-]+$/.test(ticket)) throw new CliError(`invalid ticket ${placeOf(source)}`);
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
  return new CliError(`cannot read the ticket: ${messageOf(error)}`);
}

/** The first line of standard input, read byte by byte: what follows is the process's input. */
export async function firstLine(): Promise<string> {
  const line: number[] = [];
  const byte = Buffer.alloc(1);
  while (line.length < MAX_BYTES) {
    try {
      if (fs.readSync(STDIN, byte, 0, 1, null) === 0 || byte[0] === 0x0a) break;
      line.push(byte[0] ?? 0);
    } catch (error) {
      // EOF: some systems report it for a closed pipe. EAGAIN: the parent process gave us a non-blocking descriptor.
      const code = codeOf(error);
      if (code === "EOF") break;
      if (code !== "EAGAIN") throw unreadable(error);
      await delay(RETRY_MS);
    }
  }
  return Buffer.from(line).toString("latin1");
}
