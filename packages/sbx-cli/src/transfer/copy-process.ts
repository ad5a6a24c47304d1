// The two ends of a copy as processes: this program again, with a script in the sandbox, and how they end.

import { type ChildProcess, spawn } from "node:child_process";
import { Writable } from "node:stream";
import type { CopyCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { isIgnoredFromStart } from "../base/ignored-signals.ts";
import { CliError, EXIT, type Outcome } from "../base/outcome.ts";
import { NAME_KIND } from "../base/own-names.ts";
import { aside } from "../base/print.ts";
import { CONFIRMED_BY } from "../base/stdin.ts";
import { bytesOfPath } from "./copy-path.ts";

/** Codes above it are a signal's, and 128. */
const SIGNALLED = 128;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What of one folder is copied, and where. */
export type Part = {
  readonly folder: string;
  readonly names: readonly string[];
  readonly to: string;
  readonly isResumed: boolean;
  readonly keepsModes: boolean;
  /** What was asked for, for a person. */
  readonly what: string;
};

/** Starts this program again, with a script as its command: so a copy survives cuts as every pipeline does. */
export type Remote = (
  script: string,
  args: readonly string[],
  /** `isPrinted`: its output is ours. */
  how?: { readonly hasInput?: boolean; readonly isPrinted?: boolean },
) => ChildProcess;

export function remoteOf(command: CopyCommand, env: Environment): Remote {
  const { endpoint, sandbox, token, tokenCommand, tokenCommandFrom } = command;
  // An address of the folder's file is found there again: typed, it would be shown credentials that are not for it.
  const words = [...(endpoint.isFound === true ? [] : [endpoint.httpBase]), "--sandbox", sandbox, "--no-tty"];
  if (token === undefined && tokenCommand !== undefined && tokenCommandFrom === "--token-command") {
    words.push("--token-command", tokenCommand);
  }
  const childEnv = childEnvironment(command, env);
  return (script, args, { hasInput = false, isPrinted = false } = {}) => {
    const output = isPrinted ? "inherit" : "pipe";
    return spawn(process.execPath, [...ownWords(), ...words, "--", "sh", "-c", script, "sh", ...args], {
      env: { ...childEnv, [NAME_KIND]: "cp", ...(hasInput ? { [CONFIRMED_BY]: "3" } : {}) },
      stdio: hasInput ? ["pipe", output, "inherit", "pipe"] : ["ignore", output, "inherit"],
    });
  };
}

/** What the copy's processes find in their environment. Other users of this machine see arguments, and not that. */
function childEnvironment(
  { endpoint, token, tokenCommand, tokenCommandFrom }: CopyCommand,
  env: Environment,
): Environment {
  if (token !== undefined) return { ...env, SBX_TOKEN: token, SBX_TOKEN_ORIGIN: endpoint.origin };
  // A found address gets nothing of a context that is named, here as elsewhere.
  if (tokenCommand === undefined || tokenCommandFrom !== "--context" || endpoint.isFound === true) return env;
  // It wins over a token of the environment.
  const { SBX_TOKEN: _token, DO_TOKEN: _other, ...rest } = env;
  return { ...rest, SBX_TOKEN_COMMAND: tokenCommand, SBX_TOKEN_ORIGIN: endpoint.origin };
}

/** How this program is started again: a compiled one is its own runtime, others get the same options (bin/sbx-stdio.js). */
function ownWords(): string[] {
  const script = process.argv[1];
  return script === undefined || script.startsWith("/$bunfs/") ? [] : [...process.execArgv, script];
}

/** Ends an input that is whole, and says so where that is asked for. */
export function endInput({ stdin, stdio }: ChildProcess): void {
  const confirmed = stdio[3];
  if (!(confirmed instanceof Writable)) {
    stdin?.end();
    return;
  }
  confirmed.on("error", () => undefined); // It has ended: its end tells why.
  confirmed.end(".", () => stdin?.end());
}

/** The code where one of the two has failed: tar's own would be another thing's, 2 wrong usage. A signal's stays. */
export const failureOf = (code: number) => (code > SIGNALLED ? code : EXIT.failed);

/** Where tar or a shell has failed in words of its own, what they are of. Codes of 255 and of signals come with words of ours. */
export function sayWhat(code: number, what: string, who: string): void {
  if (code > 0 && code < SIGNALLED) aside(`cannot copy ${what}: ${who} says why, above`);
}

/** What a script says of a file that is not there: a pattern is read by no shell. */
export const LACK = `lack() {
  case $1 in *[*?[]*) h=' (no shell reads a pattern there: name each file, or copy the folder)' ;; *) h= ;; esac
  printf 'sbx-stdio: no such file in the sandbox: %s%s\\n' "$1" "$h" >&2
}
`;

/** Makes the folder `$d` of the sandbox: what can't be is said of `$t`, which was asked for. */
export const MAKE_FOLDER = `refused() {
  printf 'sbx-stdio: cannot copy to %s in the sandbox: %s\\n' "$t" "$1" >&2
  exit 255
}
e=$(mkdir -p -- "$d" 2>&1) || refused "\${e#mkdir: }"
`;

/** The child's output, of bytes, one a character. @throws {CliError} If it fails: it has said why. */
export async function textOf(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await exitOf(child);
  if (code !== EXIT.ok) throw new CliError("cannot find out what has been copied already", failureOf(code));
  return Buffer.concat(chunks).toString("latin1");
}

/** Gives a tar the files that it packs, where it is not to pack all, and ends its input. */
export function giveNames(tar: ChildProcess, names: readonly string[] | undefined): void {
  if (names === undefined) return;
  tar.stdin?.on("error", () => undefined); // Its end tells why.
  tar.stdin?.write(bytesOfPath(names.map((one) => `${one}\0`).join("")));
  endInput(tar);
}

export function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new CliError(`cannot copy: ${error.message}`)));
    child.once("close", (code) => resolve(code ?? EXIT.failed));
  });
}

/** What a signal does to the work, beside ending it. */
export type OnStop = (stop: (signal: NodeJS.Signals) => void) => void;

/**
 * The work's outcome, or the signal that comes before it.
 * @param words What is said then.
 */
export async function untilSignal(work: (onStop: OnStop) => Promise<Outcome>, words?: string): Promise<Outcome> {
  let stop: (signal: NodeJS.Signals) => void = () => undefined;
  let take: (signal: NodeJS.Signals) => void = () => undefined;
  const signalled = new Promise<Outcome>((resolve) => {
    take = (signal) => {
      stop(signal);
      if (words !== undefined) aside(words);
      resolve({ kind: "signal", signal });
    };
  });
  const heeded = SIGNALS.filter((signal) => !isIgnoredFromStart(signal, process.env));
  for (const signal of heeded) process.on(signal, take);
  try {
    return await Promise.race([
      work((onSignal) => {
        stop = onSignal;
      }),
      signalled,
    ]);
  } finally {
    for (const signal of heeded) process.off(signal, take);
  }
}
