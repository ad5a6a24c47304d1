// The processes of a copy: a local one, and this program again with a script in the sandbox.

import { type ChildProcess, spawn } from "node:child_process";
import { Writable } from "node:stream";
import { defined } from "sandbox-stdio/core";
import type { CopyCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { onEndingSignal } from "../base/ignored-signals.ts";
import { CliError, EXIT, type Outcome } from "../base/outcome.ts";
import { notify } from "../base/print.ts";
import { NAME_KIND } from "../base/session-names.ts";
import { CONFIRMED_BY } from "../base/stdin.ts";
import { bytesOfPath } from "./copy-path.ts";

/** Exit codes above it are 128 + a signal. */
const SIGNALLED = 128;

/** The files of one folder to copy, and their destination. */
export type Part = {
  readonly folder: string;
  readonly names: readonly string[];
  readonly to: string;
  readonly isResumed: boolean;
  readonly keepsModes: boolean;
  /** The copy as messages name it. */
  readonly what: string;
};

/** Starts this program again with a script as its command, so that a copy survives failures like any pipeline. */
export type Remote = (
  script: string,
  args: readonly string[],
  /** `isPrinted`: writes to our standard output. */
  options?: { readonly hasInput?: boolean; readonly isPrinted?: boolean },
) => ChildProcess;

export function remoteOf(command: CopyCommand, env: Environment): Remote {
  const { endpoint, sandbox, token, tokenCommand, tokenCommandFrom } = command;
  // The child must find the address of a `.sbx.json` itself: a typed one would receive other credentials.
  const words = [...(endpoint.isFound === true ? [] : [endpoint.httpBase]), "--sandbox", sandbox, "--no-tty"];
  if (token === undefined && tokenCommand !== undefined && tokenCommandFrom === "--token-command") {
    words.push("--token-command", tokenCommand);
  }
  const childEnv = childEnvironment(command, env);
  return (script, args, { hasInput = false, isPrinted = false } = {}) => {
    const output = isPrinted ? "inherit" : "pipe";
    return spawn(process.execPath, [...ownWords(), ...words, "--", "sh", "-c", script, "sh", ...args], {
      env: { ...childEnv, [NAME_KIND]: "cp", ...defined({ [CONFIRMED_BY]: hasInput ? "3" : undefined }) },
      stdio: hasInput ? ["pipe", output, "inherit", "pipe"] : ["ignore", output, "inherit"],
    });
  };
}

/** The child's environment with the token, which other users could see among arguments. */
function childEnvironment(
  { endpoint, token, tokenCommand, tokenCommandFrom }: CopyCommand,
  env: Environment,
): Environment {
  if (token !== undefined) return { ...env, SBX_TOKEN: token, SBX_TOKEN_ORIGIN: endpoint.origin };
  // The address of a `.sbx.json` gets no token command of a context.
  if (tokenCommand === undefined || tokenCommandFrom !== "--context" || endpoint.isFound === true) return env;
  // The token command overrides a token of the environment.
  const { SBX_TOKEN: _token, DO_TOKEN: _other, ...rest } = env;
  return { ...rest, SBX_TOKEN_COMMAND: tokenCommand, SBX_TOKEN_ORIGIN: endpoint.origin };
}

/** How to start this program: a compiled one is its own runtime, others get the same options (bin/sbx-stdio.js). */
function ownWords(): string[] {
  const script = process.argv[1];
  return script === undefined || script.startsWith("/$bunfs/") ? [] : [...process.execArgv, script];
}

/** Ends a complete input, and confirms that if the child expects it. */
export function endInput({ stdin, stdio }: ChildProcess): void {
  const confirmed = stdio[3];
  if (!(confirmed instanceof Writable)) {
    stdin?.end();
    return;
  }
  confirmed.on("error", () => undefined); // Its exit code tells why.
  confirmed.end(".", () => stdin?.end());
}

/** The exit code of a failed copy: tar's own codes would mean something else, a signal's stays. */
export const failureOf = (code: number) => (code > SIGNALLED ? code : EXIT.failed);

/** Names the copy after a failure that tar or a shell has reported. Codes of 255 and signals have our own messages. */
export function reportFailure(code: number, what: string, who: string): void {
  if (code > 0 && code < SIGNALLED) notify(`cannot copy ${what}: see the message of ${who} above`);
}

/** Shell function that reports a missing file. */
export const REPORT_MISSING = `lack() {
  case $1 in *[*?[]*) h=' (patterns are not expanded in the sandbox: name each file, or copy the folder)' ;; *) h= ;; esac
  printf 'sbx-stdio: no such file in the sandbox: %s%s\\n' "$1" "$h" >&2
}
`;

/** Shell code that creates the folder `$d`; a failure is reported for the target `$t`. */
export const MAKE_FOLDER = `refused() {
  printf 'sbx-stdio: cannot copy to %s in the sandbox: %s\\n' "$t" "$1" >&2
  exit 255
}
e=$(mkdir -p -- "$d" 2>&1) || refused "\${e#mkdir: }"
`;

/** The child's output as latin1. @throws {CliError} If it fails, after its own message. */
export async function textOf(child: ChildProcess): Promise<string> {
  const chunks: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const code = await exitOf(child);
  if (code !== EXIT.ok) throw new CliError("cannot list what was already copied", failureOf(code));
  return Buffer.concat(chunks).toString("latin1");
}

/** Sends tar the names to pack, unless it packs everything, and ends its input. */
export function giveNames(tar: ChildProcess, names: readonly string[] | undefined): void {
  if (names === undefined) return;
  tar.stdin?.on("error", () => undefined); // Its exit code tells why.
  tar.stdin?.write(bytesOfPath(names.map((one) => `${one}\0`).join("")));
  endInput(tar);
}

export function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new CliError(`cannot copy: ${error.message}`)));
    child.once("close", (code) => resolve(code ?? EXIT.failed));
  });
}

/** Registers what a signal does to the work besides ending it. */
export type OnStop = (stop: (signal: NodeJS.Signals) => void) => void;

/** The work's outcome, or the signal that ends it. @param notice Printed at the signal. */
export async function untilSignal(work: (onStop: OnStop) => Promise<Outcome>, notice?: string): Promise<Outcome> {
  let stop: (signal: NodeJS.Signals) => void = () => undefined;
  let ignoreSignals: () => void = () => undefined;
  const signalled = new Promise<Outcome>((resolve) => {
    ignoreSignals = onEndingSignal(process.env, (signal) => {
      stop(signal);
      if (notice !== undefined) notify(notice);
      resolve({ kind: "signal", signal });
    });
  });
  try {
    return await Promise.race([
      work((onSignal) => {
        stop = onSignal;
      }),
      signalled,
    ]);
  } finally {
    ignoreSignals();
  }
}
