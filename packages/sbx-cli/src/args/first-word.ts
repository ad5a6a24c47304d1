// The first word of the command line: a verb, `help`, or a server. Knows no options.

import { quote } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";

/** Every verb, for a run that does not describe them. */
export const VERBS: readonly string[] =
  `attach exec run read write wait ask screen commands signal ls sessions logs record recordings replay kill whoami doctor share tickets revoke login logout
   context mcp codex serve ssh-proxy ssh-config cp forward completion man version`.split(/\s+/);

/** A word that is no address. */
const BARE = /^[A-Za-z][\w-]*$/;

export const isBare = (word: string) => BARE.test(word);

/** Whether a word is not an address but a command: a name or a path. */
export const isCommand = (word: string) => isBare(word) || /^\.{0,2}\//.test(word);

/** Options for a name in the place where `ssh` or `kubectl exec` take it. */
export const flagHints = (word: string) =>
  `use --context ${word} for a context, --sandbox ${word} for a sandbox, attach ${word} for a session`;

/** Rewrites `help COMMAND` as `COMMAND --help`. @param commands Names of the verbs. @throws {CliError} */
export function readFirstWord(argv: readonly string[], commands: readonly string[]): string[] {
  const [first = "", second] = argv;
  if (first === "help") {
    if (second === undefined) return ["--help"];
    if (!commands.includes(second)) throw usage(`unknown command "${second}"; see sbx-stdio --help`);
    return [second, "--help"];
  }
  if (isCommand(first) && !commands.includes(first)) {
    // With an address or a command behind it, the word is a misspelt verb.
    if (!argv.some((word) => word === "--" || /^[a-z]+:\/\//i.test(word))) {
      const line = `sbx-stdio -- ${argv.map(quote).join(" ")}`;
      const alone = argv.length === 1 && isBare(first) ? `; ${flagHints(first)}` : "";
      throw usage(`unknown command "${first}" (see --help); a command for the sandbox goes after --: ${line}${alone}`);
    }
    throw usage(`"${first}" is neither a command nor an address (https:// or http://); see sbx-stdio --help`);
  }
  return [...argv];
}
