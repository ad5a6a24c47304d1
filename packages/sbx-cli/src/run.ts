// Which command does what, each in a module that is read when it is asked for: most runs attach. Reads no arguments of the
// process and does not end it.

import fs from "node:fs";
import { readDefaults, runContext, unusedWords } from "./account/contexts.ts";
import { login, logout, tokenSource } from "./account/credentials.ts";
import { parseArgs } from "./args/args.ts";
import { checkArguments } from "./args/arguments.ts";
import type { AttachWish, CliCommand, Place } from "./args/cli-command.ts";
import { readTicket } from "./args/ticket.ts";
import { attach } from "./attach/attach-command.ts";
import type { Environment } from "./base/environment.ts";
import { CliError, EXIT, exitWith, type Outcome } from "./base/outcome.ts";
import { safeJson } from "./base/plain-text.ts";
import { aside, print } from "./base/print.ts";
import { advised } from "./base/server-words.ts";
import { standardInput } from "./base/stdin.ts";
import { terminalStreams } from "./base/tty.ts";
import { VERSION, versionText } from "./base/version.ts";
import { sshConfig, sshProxyWish } from "./tools/ssh.ts";

const STDERR = 2;
/** Asked by the completions that completion.ts makes, and by nobody else. */
const ASK_NAMES = "__complete";
/** Set where this program starts itself again: the folder's file has been spoken of. */
const TOLD = "SBX_FOLDER_TOLD";

/** @throws {CliError} What a person should be told in one line, and the exit code. */
export async function run(argv: readonly string[], env: Environment): Promise<Outcome> {
  checkArguments(argv);
  if (isVersionAsked(argv)) return print(versionText(true));
  if (argv[0] === "mcp") return (await import("./tools/mcp-command.ts")).mcp(argv.slice(1), env);
  if (argv[0] === ASK_NAMES) return (await import("./programs/complete.ts")).complete(argv.slice(1), env);
  let ownEnv = env;
  let unused: string | undefined;
  const command = parseArgs(argv, VERSION, (context) => {
    // A copy starts this program again: it is to find the same context.
    if (context !== undefined) ownEnv = { ...env, SBX_CONTEXT: context };
    const defaults = readDefaults(env, process.cwd(), context);
    unused = unusedWords(defaults);
    return defaults;
  });
  const isQuiet = env[TOLD] !== undefined || (command.kind === "attach" && command.wish.isQuiet === true);
  if (unused !== undefined && !isQuiet) {
    aside(unused);
    ownEnv = { ...ownEnv, [TOLD]: "1" };
  }
  try {
    return await carryOut(command, env, ownEnv);
  } catch (error) {
    // A program reads the refusal where it would have read the answer; the line for a person is said all the same.
    const isAsked = "isJson" in command && command.isJson && error instanceof CliError;
    if (isAsked) await print(`${safeJson({ error: error.code, message: error.message })}\n`);
    const endpoint = command.kind === "attach" ? command.wish.endpoint : "endpoint" in command && command.endpoint;
    throw error instanceof CliError && endpoint ? advised(error, endpoint) : error;
  }
}

async function carryOut(command: CliCommand, env: Environment, ownEnv: Environment): Promise<Outcome> {
  const token = (place: Place) => tokenSource(place, env).token;
  switch (command.kind) {
    case "attach": {
      const wish = command.isOffered === true ? await chosen(command) : command.wish;
      if (wish === undefined) return exitWith(EXIT.ok);
      const { ticketFrom } = wish;
      const isLookedAt = command.mustRun === true || command.looksFirst === true;
      const seen = isLookedAt ? await (await import("./programs/must-run.ts")).lookedAt(command, token(wish)) : {};
      const ticket = ticketFrom === undefined ? {} : { ticket: await readTicket(ticketFrom) };
      return attach({ ...wish, ...ticket, ...seen }, env);
    }
    case "show":
      return print(command.text);
    case "run":
      return (await import("./attach/run-program.ts")).runProgram(
        command,
        tokenSource(command, env),
        env,
        standardInput(),
      );
    case "read":
    case "write":
    case "wait":
    case "screen":
    case "commands":
    case "signal":
      return (await import("./programs/programs.ts")).runProgramVerb(command, token(command), standardInput());
    case "logs":
      return (await import("./programs/logs.ts")).runLogs(command, token(command));
    case "login":
      await login(command, env, (line) => fs.writeSync(STDERR, `${line}\n`));
      break;
    case "logout":
      await logout(env, command.endpoint);
      break;
    case "whoami":
      if (command.isVerbose) aside(`the token is from ${tokenSource(command, env).from}`);
      return print(await (await import("./tools/whoami.ts")).whoAmI(command, await token(command)()));
    case "doctor":
      return (await import("./tools/doctor.ts")).diagnose(command, tokenSource(command, env), env);
    case "context":
      return print(runContext(command, env));
    case "sessions":
      return (await import("./programs/list-command.ts")).list(command, token(command));
    case "cp":
      return (await import("./transfer/copy.ts")).copy(command, ownEnv);
    case "forward":
      return (await import("./tools/forward.ts")).forward(command, env);
    case "ssh-proxy":
      return attach(sshProxyWish(command), env);
    case "ssh-config":
      return print(sshConfig(command));
    case "kill":
      return (await import("./programs/kill.ts")).kill(command, await token(command)());
    case "share":
    case "tickets":
    case "revoke": {
      const { runSharing } = await import("./programs/sharing.ts");
      const said = await runSharing(command, await token(command)());
      const outcome = await print(said.out);
      if (said.aside !== undefined) aside(said.aside);
      return outcome;
    }
  }
  return exitWith(EXIT.ok);
}

async function chosen({ wish }: Extract<CliCommand, { kind: "attach" }>): Promise<AttachWish | undefined> {
  const { offer } = await import("./programs/offer.ts");
  return offer(wish, tokenSource(wish, process.env).token, terminalStreams() !== undefined);
}

/** `--version --json`, which no command stands before. */
function isVersionAsked(argv: readonly string[]): boolean {
  return argv.length === 2 && argv.includes("--json") && (argv.includes("--version") || argv.includes("-V"));
}
