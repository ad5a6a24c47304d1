// Which command does what. Reads no arguments of the process and does not end it.

import fs from "node:fs";
import { parseArgs } from "./args.ts";
import { attach } from "./attach-command.ts";
import { login, logout, tokenSource } from "./credentials.ts";
import type { Environment } from "./logins.ts";
import { CliError, EXIT, exitWith, type Outcome } from "./outcome.ts";
import { Output } from "./output.ts";
import { safeJson } from "./plain-text.ts";
import { killSession, listSessions, sessionTable } from "./sessions.ts";
import { runSharing } from "./sharing.ts";
import { readTicket } from "./ticket.ts";
import { VERSION } from "./version.ts";

const STDOUT = 1;
const STDERR = 2;

/**
 * Says on standard output what a command was asked for.
 * @throws {CliError} Where it can't be written; nobody who wants it is no fault.
 */
async function print(text: string): Promise<Outcome> {
  let fault: NodeJS.ErrnoException | undefined;
  const output = new Output({
    written: () => undefined,
    broken: (_fd, error) => {
      fault = error;
    },
  });
  output.push(STDOUT, Buffer.from(text));
  await output.flushed();
  if (fault === undefined) return exitWith(EXIT.ok);
  if (fault.code === "EPIPE") return exitWith(EXIT.brokenPipe);
  throw new CliError(`cannot write the output: ${fault.message}`);
}

/** A line for a person, beside what standard output is for. */
function aside(line: string): void {
  fs.writeSync(STDERR, `sbx-stdio: ${line}\n`);
}

/** @throws {CliError} What a person should be told in one line, and the exit code. */
export async function run(argv: readonly string[], env: Environment): Promise<Outcome> {
  const command = parseArgs(argv, VERSION);
  switch (command.kind) {
    case "attach": {
      const { wish } = command;
      const { ticketFrom } = wish;
      return attach(ticketFrom === undefined ? wish : { ...wish, ticket: await readTicket(ticketFrom) }, env);
    }
    case "show":
      return print(command.text);
    case "login":
      await login(command, env, (line) => fs.writeSync(STDERR, `${line}\n`));
      break;
    case "logout":
      await logout(env, command.endpoint);
      break;
    case "sessions": {
      const { endpoint, sandbox, isJson } = command;
      const token = await tokenSource(command.token, env, endpoint).token();
      const answer = await listSessions(endpoint, sandbox, token);
      return print(isJson ? `${safeJson(answer, 2)}\n` : sessionTable(answer));
    }
    case "kill": {
      const { endpoint, sandbox, session } = command;
      await killSession(endpoint, sandbox, session, await tokenSource(command.token, env, endpoint).token());
      aside(`session ${session} in sandbox ${sandbox} has ended`);
      break;
    }
    case "share":
    case "tickets":
    case "revoke": {
      const said = await runSharing(command, await tokenSource(command.token, env, command.endpoint).token());
      const outcome = await print(said.out);
      if (said.aside !== undefined) aside(said.aside);
      return outcome;
    }
  }
  return exitWith(EXIT.ok);
}
