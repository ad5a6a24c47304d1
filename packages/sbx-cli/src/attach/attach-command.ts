// The main command: attaches this side's terminal or pipeline to a session, until either ends.

import { randomUUID } from "node:crypto";
import { tokenSource } from "../account/credentials.ts";
import type { AttachWish } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import type { Outcome } from "../base/outcome.ts";
import { freshSessionName } from "../base/own-names.ts";
import { sizeOf, terminalStreams } from "../base/tty.ts";
import { Attachment } from "./attachment.ts";
import { fitsAddress } from "./long-command.ts";
import { ResumePlace } from "./resume-place.ts";

/** @throws {CliError} Where nothing could be begun. */
export async function attach(wish: AttachWish, env: Environment): Promise<Outcome> {
  const keeper = wish.resumeFile === undefined ? undefined : new ResumePlace(wish.resumeFile, wish);
  const session = wish.session ?? keeper?.earlier?.session ?? freshSessionName();
  const token = tokenSource(wish, env, wish.ticket !== undefined);
  const run = (asked: AttachWish, isOurs: boolean) =>
    new Attachment(asked, { session, token, keeper, env, isOurs }).run();
  // The command line refuses a wish as the server would: a proxy that gets too long an address gives no helpful reason.
  if (fitsAddress(wish) || wish.cmd === undefined) return run(wish, false);
  // An earlier run has started it.
  if (keeper?.earlier !== undefined && !keeper.isStartUnsure)
    return run({ ...wish, cmd: undefined, args: [], env: [] }, true);
  const streams = wish.hasNoInput === true ? undefined : terminalStreams();
  const long = { ...wish, session, cmd: wish.cmd };
  const { startLong } = await import("./start-long.ts");
  const attempt = keeper?.starting(session) ?? randomUUID();
  const rest = await startLong(long, streams !== undefined, streams && sizeOf(streams.output), attempt, token.token);
  return run({ ...rest, session: wish.session }, true);
}
