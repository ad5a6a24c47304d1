// Which command does what. Reads no arguments of the process and does not end it.

import fs from "node:fs";
import { parseArgs } from "./args.ts";
import { attach } from "./attach.ts";
import { type Environment, login, logout, tokenSource } from "./credentials.ts";
import { EXIT, exitWith, type Outcome } from "./outcome.ts";
import { killSession, listSessions, sessionTable } from "./sessions.ts";
import { runSharing } from "./sharing.ts";
import { VERSION } from "./version.ts";

const STDOUT = 1;
const STDERR = 2;

/** A line for a person, beside what standard output is for. */
function aside(line: string): void {
  fs.writeSync(STDERR, `sbx-stdio: ${line}\n`);
}

/** @throws {CliError} What a person should be told in one line, and the exit code. */
export async function run(argv: readonly string[], env: Environment): Promise<Outcome> {
  const command = parseArgs(argv, VERSION);
  switch (command.kind) {
    case "attach":
      return attach(command.wish, env);
    case "show":
      fs.writeSync(STDOUT, command.text);
      break;
    case "login":
      await login(command, env, (line) => fs.writeSync(STDERR, `${line}\n`));
      break;
    case "logout":
      await logout(env);
      break;
    case "sessions": {
      const { endpoint, sandbox, isJson } = command;
      const token = await tokenSource(command.token, env, endpoint).token();
      const answer = await listSessions(endpoint, sandbox, token);
      fs.writeSync(STDOUT, isJson ? `${JSON.stringify(answer, null, 2)}\n` : sessionTable(answer));
      break;
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
      fs.writeSync(STDOUT, said.out);
      if (said.aside !== undefined) aside(said.aside);
      break;
    }
  }
  return exitWith(EXIT.ok);
}
