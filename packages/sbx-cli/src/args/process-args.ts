// The command to run: from --cmd and --arg, or after `--`.

import type { Command } from "commander";
import { quote } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import { isCommand } from "./first-word.ts";

/** @param afterDashes The words after `--`. @param words Words before it that commander took for the command. @throws {CliError} */
export function readProcess(
  afterDashes: readonly string[] | undefined,
  words: readonly string[],
  flags: { readonly cmd?: string; readonly arg?: readonly string[] },
  verb?: string,
): { cmd: string | undefined; args: readonly string[] } {
  const stray = words[0];
  if (afterDashes === undefined) {
    if (stray !== undefined) throw usage(`put -- before the command: ${typed(verb, "URL [options] --", ...words)}`);
  } else {
    if (stray !== undefined) throw usage(`unexpected argument "${stray}"; put it after the --`);
    if (flags.cmd !== undefined) throw usage("give the command with --cmd or after --, not both");
    if (flags.arg !== undefined) throw usage("--arg needs --cmd; after --, write the arguments directly");
    // An empty word is most likely an unset variable, which must not start a shell.
    if (!afterDashes[0]) throw usage("no command after --");
    return { cmd: afterDashes[0], args: afterDashes.slice(1) };
  }
  if (flags.arg !== undefined && flags.cmd === undefined) throw usage("--arg needs --cmd");
  if (flags.cmd === "") throw usage("--cmd must not be empty");
  return { cmd: flags.cmd, args: flags.arg ?? [] };
}

/** Refuses a command in place of the address. @param words From there on. @throws {CliError} */
export function refuseMisplaced(
  verb: string | undefined,
  words: readonly string[],
  afterDashes: readonly string[] | undefined,
  between: readonly string[] = [],
): void {
  const isGiven = afterDashes !== undefined || words.some((word) => /^--(cmd|command)(=|$)/.test(word));
  if (isGiven || !isCommand(words[0] ?? "")) return;
  throw usage(`a command for the sandbox goes after --: ${typed(verb, ...between, "--", ...words.map(quote))}`);
}

const typed = (verb: string | undefined, ...words: readonly string[]) =>
  ["sbx-stdio", ...(verb === undefined ? [] : [verb]), ...words].join(" ");

/** The words after the first `--` that is not itself an option's value; commander does not tell. */
export function wordsAfterDashes(command: Command, argv: readonly string[]): readonly string[] | undefined {
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i];
    if (word === "--") return argv.slice(i + 1);
    if (command.options.some((option) => option.required && (option.long === word || option.short === word))) i += 1;
  }
  return undefined;
}
