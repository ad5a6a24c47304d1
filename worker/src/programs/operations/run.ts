// *run* (U1 to U4), once its process is there: waits for its end, and answers with what it has said.

import { decodeUtf8, headTail } from "sandbox-stdio/programs";
import { type Operation, type ProgramAnswer, refused } from "../call.ts";
import { type Reached, stateOf } from "./reached.ts";
import { until } from "./until.ts";

type Run = Extract<Operation, { type: "run" }>;

export async function run(
  reached: Reached,
  session: string,
  { waitMs, maxBytes }: Run,
  signal: AbortSignal,
): Promise<ProgramAnswer> {
  await until(reached, Date.now() + waitMs, signal, () => reached.state !== "running");
  if (reached.isStale) return refused(503, "unavailable", "the session can't be reached just now: ask again");
  const { output, stdout, stderr, from, next, end, truncated, gap } = headTail(reached.log, 0, maxBytes);
  const body = {
    session,
    incarnation: reached.incarnation,
    ...stateOf(reached),
    from,
    next,
    end,
    output: decodeUtf8(output),
    ...(reached.isTty ? {} : { stdout: decodeUtf8(stdout), stderr: decodeUtf8(stderr) }),
    ...(truncated === undefined ? {} : { truncated }),
    ...(gap === undefined ? {} : { gap }),
  };
  return { status: 200, body };
}
