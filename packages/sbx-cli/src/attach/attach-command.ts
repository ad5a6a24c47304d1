// The main command: attaches this terminal or pipeline to a session.

import { randomUUID } from "node:crypto";
import { tokenSource } from "../account/credentials.ts";
import type { AttachRequest } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import type { Outcome } from "../base/outcome.ts";
import { freshSessionName } from "../base/session-names.ts";
import { sizeOf, terminalStreams } from "../base/tty.ts";
import { fitsUrl } from "./attach-query.ts";
import { Attachment } from "./attachment.ts";
import { ResumeState } from "./resume-state.ts";

/** @throws {CliError} If nothing could be started. */
export async function attach(request: AttachRequest, env: Environment): Promise<Outcome> {
  const resume = request.resumeFile === undefined ? undefined : new ResumeState(request.resumeFile, request);
  const session = request.session ?? resume?.earlier?.session ?? freshSessionName();
  const token = tokenSource(request, env, request.ticket !== undefined);
  const run = (asked: AttachRequest, isOurs: boolean) =>
    new Attachment(asked, { session, token, resume, env, isOurs }).run();
  // Checked here: a proxy that gets too long a URL gives no helpful reason.
  if (fitsUrl(request) || request.cmd === undefined) return run(request, false);
  // An earlier run started the process.
  if (resume?.earlier !== undefined && !resume.isStartUnsure)
    return run({ ...request, cmd: undefined, args: [], env: [] }, true);
  const streams = request.hasNoInput === true ? undefined : terminalStreams();
  const long = { ...request, session, cmd: request.cmd };
  const { startLong } = await import("./start-long.ts");
  const attempt = resume?.starting(session) ?? randomUUID();
  const rest = await startLong(long, streams !== undefined, streams && sizeOf(streams.output), attempt, token.token);
  return run({ ...rest, session: request.session }, true);
}
