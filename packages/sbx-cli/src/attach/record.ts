// `record`: an asciicast of what a session prints from now on, by a client that looks on; or the server's own recording.

import fs from "node:fs";
import tty from "node:tty";
import { type TokenSource, tokenSource } from "../account/credentials.ts";
import type { AttachRequest, RecordCommand } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { codeOf } from "../base/errors.ts";
import { CliError, EXIT, exitWith, type Outcome, usage } from "../base/outcome.ts";
import { storedRecording } from "../programs/stored-recording.ts";
import { Attachment } from "./attachment.ts";
import { CastFront } from "./cast-front.ts";

const STDOUT = 1;

/** @throws {CliError} */
export async function record(command: RecordCommand, env: Environment): Promise<Outcome> {
  const { output } = command;
  const token = tokenSource(command, env, command.ticket !== undefined);
  if (output === undefined && tty.isatty(STDOUT)) throw usage("record needs -o FILE, or a redirected standard output");
  const fd = output === undefined ? STDOUT : open(output);
  try {
    return await (command.stored === undefined ? recordLive(command, fd, token, env) : save(command, fd, token));
  } finally {
    if (output !== undefined) close(output, fd);
  }
}

function open(path: string): number {
  try {
    return fs.openSync(path, "wx");
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw usage(`${path} is there already; give another name`);
    throw new CliError(`cannot make ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A file of a recording that never began is in nobody's way. */
function close(path: string, fd: number): void {
  const { size } = fs.fstatSync(fd);
  fs.closeSync(fd);
  if (size === 0) fs.rmSync(path, { force: true });
}

async function save(command: RecordCommand, fd: number, token: TokenSource): Promise<Outcome> {
  const { stored = {}, idleLimitSeconds } = command;
  const query = idleLimitSeconds === undefined ? stored : { ...stored, idleLimit: String(idleLimitSeconds) };
  for await (const chunk of storedRecording(command, token, query)) writeAll(fd, chunk);
  return exitWith(EXIT.ok);
}

/** @throws {CliError} */
function writeAll(fd: number, bytes: Uint8Array): void {
  try {
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
  } catch (error) {
    const isGone = codeOf(error) === "EPIPE";
    const words = error instanceof Error ? error.message : String(error);
    throw new CliError(`cannot write the recording: ${words}`, isGone ? EXIT.brokenPipe : undefined);
  }
}

async function recordLive(command: RecordCommand, fd: number, token: TokenSource, env: Environment): Promise<Outcome> {
  const { session, idleLimitSeconds } = command;
  let front: CastFront | undefined;
  const attachment = new Attachment(viewerOf(command), {
    ...{ session, token, env },
    resume: undefined,
    isOurs: false,
    front: (output, hello) => {
      front = new CastFront(output, fd, hello, idleLimitSeconds === undefined ? undefined : idleLimitSeconds * 1000);
      return front;
    },
  });
  const outcome = await attachment.run();
  // The recording is what was asked for; the process's own exit code is in it.
  const isDone = front?.hasExited === true || (outcome.kind === "signal" && outcome.signal === "SIGINT");
  return front !== undefined && isDone ? exitWith(EXIT.ok) : outcome;
}

/** Looks on: starts nothing and wakes nothing. */
function viewerOf({ endpoint, sandbox, session, token, tokenCommand, ticket }: RecordCommand): AttachRequest {
  return {
    ...{ endpoint, sandbox, token, tokenCommand, ticket, session, role: "viewer", wake: false },
    ...{ tty: undefined, hasNoInput: true, args: [], env: [], hasStatus: false },
    ...{ cmd: undefined, cwd: undefined, ticketFrom: undefined, resumeFile: undefined },
    ...{ isVerbose: false, isQuiet: false },
  };
}
