// Runs a command. Each one's module is loaded when needed, since most runs attach. Does not end the process.

import fs from "node:fs";
import { defined } from "sandbox-stdio/core";
import { readDefaults, runContext, unknownFieldsWarning } from "./account/contexts.ts";
import { login, logout, tokenSource } from "./account/credentials.ts";
import { parseArgs } from "./args/args.ts";
import type { AttachRequest, CliCommand, Target } from "./args/cli-command.ts";
import { readTicket } from "./args/ticket.ts";
import { checkArguments } from "./args/utf8-check.ts";
import { attach } from "./attach/attach-command.ts";
import type { Environment } from "./base/environment.ts";
import { CliError, EXIT, exitWith, type Outcome } from "./base/outcome.ts";
import { safeJson } from "./base/plain-text.ts";
import { notify, print } from "./base/print.ts";
import { withAdvice } from "./base/server-errors.ts";
import { standardInput } from "./base/stdin.ts";
import { terminalStreams } from "./base/tty.ts";
import { VERSION, versionText } from "./base/version.ts";
import { sshConfig, sshProxyWish } from "./tools/ssh.ts";

const STDERR = 2;
/** The hidden verb of our completion scripts. */
const COMPLETE = "__complete";
/** Set when this program starts itself: the warning about the folder's file was already shown. */
const WARNED = "SBX_FOLDER_TOLD";

/** @throws {CliError} With a message for a person and an exit code. */
export async function run(argv: readonly string[], env: Environment): Promise<Outcome> {
  checkArguments(argv);
  if (isVersionAsked(argv)) return print(versionText(true));
  if (argv[0] === "mcp") return (await import("./tools/mcp-command.ts")).mcp(argv.slice(1), env);
  if (argv[0] === COMPLETE) return (await import("./programs/complete.ts")).complete(argv.slice(1), env);
  let childEnv = env;
  let unused: string | undefined;
  const command = parseArgs(argv, VERSION, (context) => {
    // A copy starts this program again, which must use the same context.
    if (context !== undefined) childEnv = { ...env, SBX_CONTEXT: context };
    const defaults = readDefaults(env, process.cwd(), context);
    unused = unknownFieldsWarning(defaults);
    return defaults;
  });
  const isQuiet = env[WARNED] !== undefined || (command.kind === "attach" && command.request.isQuiet === true);
  if (unused !== undefined && !isQuiet) {
    notify(unused);
    childEnv = { ...childEnv, [WARNED]: "1" };
  }
  try {
    return await carryOut(command, env, childEnv);
  } catch (error) {
    // With --json the error is also printed where the answer would have been.
    const isJson = "isJson" in command && command.isJson && error instanceof CliError;
    if (isJson) await print(`${safeJson({ error: error.code, message: error.message })}\n`);
    const endpoint = command.kind === "attach" ? command.request.endpoint : "endpoint" in command && command.endpoint;
    throw error instanceof CliError && endpoint ? withAdvice(error, endpoint) : error;
  }
}

async function carryOut(command: CliCommand, env: Environment, childEnv: Environment): Promise<Outcome> {
  const token = (target: Target) => tokenSource(target, env).token;
  switch (command.kind) {
    case "attach": {
      const request = command.offersSessions === true ? await choose(command) : command.request;
      if (request === undefined) return exitWith(EXIT.ok);
      const { ticketFrom } = request;
      const isChecked = command.mustRun === true || command.checksFirst === true;
      const seen = isChecked
        ? await (await import("./programs/existing-session.ts")).checkExisting(command, token(request))
        : {};
      const ticket = ticketFrom === undefined ? undefined : await readTicket(ticketFrom);
      return attach({ ...request, ...defined({ ticket }), ...seen }, env);
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
    case "ask":
    case "signal":
      return (await import("./programs/programs.ts")).runVerb(command, token(command), standardInput());
    case "logs":
      return (await import("./programs/logs.ts")).runLogs(command, token(command));
    case "serve":
      return (await import("./tools/serve-command.ts")).serve(command.command);
    case "record":
      return (await import("./attach/record.ts")).record(command, env);
    case "replay":
      return (await import("./programs/replay.ts")).replay(command, env);
    case "login":
      await login(command, env, (line) => fs.writeSync(STDERR, `${line}\n`));
      break;
    case "logout":
      await logout(env, command.endpoint);
      break;
    case "whoami":
      if (command.isVerbose) notify(`the token is from ${tokenSource(command, env).from}`);
      return print(await (await import("./tools/whoami.ts")).whoAmI(command, await token(command)()));
    case "doctor":
      return (await import("./tools/doctor.ts")).diagnose(command, tokenSource(command, env), env);
    case "context":
      return print(runContext(command, env));
    case "sessions":
      return (await import("./programs/list-command.ts")).list(command, token(command));
    case "cp":
      return (await import("./transfer/copy.ts")).copy(command, childEnv);
    case "forward":
      return (await import("./tools/forward.ts")).forward(command, env);
    case "codex":
      return (await import("./tools/codex.ts")).codex(command, token(command), standardInput());
    case "ssh-proxy":
      return attach(sshProxyWish(command), env);
    case "ssh-config":
      return print(sshConfig(command));
    case "kill":
      return (await import("./programs/kill.ts")).kill(command, await token(command)());
    case "recordings":
    case "share":
    case "tickets":
    case "revoke": {
      const { out, notice } =
        command.kind === "recordings"
          ? await (await import("./programs/recordings.ts")).runRecordings(command, await token(command)())
          : await (await import("./programs/sharing.ts")).runSharing(command, await token(command)());
      const outcome = await print(out);
      if (notice !== undefined) notify(notice);
      return outcome;
    }
  }
  return exitWith(EXIT.ok);
}

async function choose({ request }: Extract<CliCommand, { kind: "attach" }>): Promise<AttachRequest | undefined> {
  const { chooseSession } = await import("./programs/choose-session.ts");
  return chooseSession(request, tokenSource(request, process.env).token, terminalStreams() !== undefined);
}

/** `--version --json`, which has no verb. */
function isVersionAsked(argv: readonly string[]): boolean {
  return argv.length === 2 && argv.includes("--json") && (argv.includes("--version") || argv.includes("-V"));
}
