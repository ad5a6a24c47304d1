// Reads the first word of the command line: a command, `attach`, `help`, or the place to attach to. Knows no options.

import { quote } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";

/** Every verb, for a run that has none and need not describe them. */
export const VERBS: readonly string[] =
  `attach exec run read write wait screen commands signal ls sessions logs kill whoami doctor share tickets revoke login logout
   context mcp ssh-proxy ssh-config cp forward completion man version`.split(/\s+/);

/** A word that no address looks like. */
const BARE = /^[A-Za-z][\w-]*$/;

export const isBare = (word: string) => BARE.test(word);

/** Whether a word can be no address, but a command: its name, or a path. */
export const isCommand = (word: string) => isBare(word) || /^\.{0,2}\//.test(word);

/** What a word may be meant as that `ssh` or `kubectl exec` takes there. */
export const placesNamed = (word: string) =>
  `a context is meant by --context ${word}, a sandbox by --sandbox ${word}, a session by attach ${word}`;

/**
 * The words as commander is to read them: `help COMMAND` is `COMMAND --help`.
 * @param commands The names of the commands. @throws {CliError}
 */
export function readFirstWord(argv: readonly string[], commands: readonly string[]): string[] {
  const [first = "", second] = argv;
  if (first === "help") {
    if (second === undefined) return ["--help"];
    if (!commands.includes(second)) throw usage(`"${second}" is no command: see sbx-stdio --help`);
    return [second, "--help"];
  }
  if (isCommand(first) && !commands.includes(first)) {
    // With an address or a command behind it, it is a verb that was not spelt well.
    if (!argv.some((word) => word === "--" || /^[a-z]+:\/\//i.test(word))) {
      const line = `sbx-stdio -- ${argv.map(quote).join(" ")}`;
      const alone = argv.length === 1 && isBare(first) ? `; ${placesNamed(first)}` : "";
      throw usage(
        `"${first}" is neither a command of sbx-stdio (see --help) nor an address; a command for the sandbox stands after --: ${line}${alone}`,
      );
    }
    throw usage(
      `"${first}" is neither a command nor an address, which begins with https:// or http://: see sbx-stdio --help`,
    );
  }
  return [...argv];
}
