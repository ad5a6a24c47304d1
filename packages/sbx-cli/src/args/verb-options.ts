// Options shared by several verbs of the HTTP interface.

import { type Command, Option } from "commander";
import { defined } from "sandbox-stdio/core";
import type { CliCommand } from "./cli-command.ts";
import { readDuration, readWhole } from "./readers.ts";

export type Done = (command: CliCommand) => void;

const MAX_WAIT_MS = 600_000;
export const MAX_TIMEOUT_MS = 3_600_000;
const MAX_BYTES = 1_048_576;
export const readOffset = readWhole(0, Number.MAX_SAFE_INTEGER);
export const readMaxBytes = readWhole(16, MAX_BYTES, " of bytes");

export const withJson = (command: Command) => command.option("--json", "print the server's answer as JSON");
export const withIncarnation = (command: Command) =>
  command.option("--incarnation <id>", "only this process, not another of the same name");
export const withWriter = (command: Command) => command.option("--writer <name>", "name of the writer (default: api)");
export const withWait = (command: Command, what: string) =>
  command
    .option("--wait <duration>", what, readDuration(MAX_WAIT_MS))
    .addOption(new Option("--wait-ms <ms>", "the same in milliseconds").argParser(readWhole(0, MAX_WAIT_MS)));

export type Waiting = { wait?: number; waitMs?: number };
export const waitOf = ({ wait, waitMs = wait }: Waiting) => defined({ waitMs });
