// Reads the first word of the command line: a command, `attach`, `help`, or the place to attach to. Knows no options.

import { usage } from "./outcome.ts";

/** Every verb, for a run that has none and need not describe them. */
export const VERBS: readonly string[] =
  `attach exec run read write wait screen commands signal ls sessions logs kill whoami doctor share tickets revoke login logout
   context mcp ssh-proxy ssh-config cp forward completion man version`.split(/\s+/);

/** A word that no address looks like. */
const BARE = /^[A-Za-z][\w-]*$/;

export const isBare = (word: string) => BARE.test(word);

/**
 * The words as commander is to read them: `attach` may be said, as the other commands are, and `help COMMAND` is
 * `COMMAND --help`. @param commands The names of the commands. @throws {CliError}
 */
export function readFirstWord(argv: readonly string[], commands: readonly string[]): string[] {
  const [first = "", second = "attach"] = argv;
  if (first === "attach") return argv.slice(1);
  if (first === "help") {
    if (second === "attach") return ["--help"];
    if (!commands.includes(second)) throw usage(`"${second}" is no command: see sbx-stdio --help`);
    return [second, "--help"];
  }
  if (BARE.test(first) && !commands.includes(first)) {
    throw usage(
      `"${first}" is neither a command nor an address, which begins with https:// or http://: see sbx-stdio --help`,
    );
  }
  return [...argv];
}
