// A program that types a session's whole input by calls, through the same breaking connections as its clients: each call is made again
// until it is answered, and must have been done once. Knows nothing of who reads the output.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "../../local/src/base/random.ts";
import { patternBytes } from "./pattern.ts";
import type { Answer, Calls, Cut } from "./programs/calls.ts";
import { keyOf, type Work } from "./work.ts";

export type TypistPorts = {
  readonly calls: Calls;
  readonly random: Random;
  readonly sandbox: string;
  readonly session: string;
  readonly work: Work;
  /** A call has been answered. */
  readonly moved: () => void;
  /** A folder that the sandbox's programs can write to. */
  readonly scratch: string;
};

const MOST_BYTES = 48 * 1024;
const CUT = 0.2;
const REPEATED = 0.1;

/** @throws {Error} The first answer that is not right. */
export async function typeByCalls({
  calls,
  random,
  sandbox,
  session,
  work,
  scratch,
  moved,
}: TypistPorts): Promise<void> {
  const cutOf = (): Cut | undefined => (random.chance(CUT) ? random.pick(["before", "during", "after"]) : undefined);
  const post = async (path: string, body: object): Promise<Answer> => {
    for (let isRepeated = random.chance(REPEATED); ; isRepeated = false) {
      const answer = await calls.call("POST", `/api/sandboxes/${sandbox}${path}`, body, cutOf, random);
      moved();
      // So slow was the way that the server gave the body up: that is a cut as others are.
      const isTooSlow = answer.status === 400 && /did not come in/.test(String(answer.body.message));
      if (!isRepeated && !isTooSlow) return answer;
    }
  };
  const wrong = (what: string, { status, body }: Answer) =>
    new Error(`${what} was answered ${status} ${JSON.stringify(body).slice(0, 300)}`);

  const file = join(scratch, `${session}.runs`);
  const run = await post("/run", { session: `${session}-run`, command: `echo run >> '${file}'; cat '${file}'` });
  if (run.status !== 200 || run.body.output !== "run\n" || readFileSync(file, "utf8") !== "run\n")
    throw wrong("a run", run);

  for (let at = 0; at < work.inputBytes; ) {
    const to = Math.min(work.inputBytes, at + random.int(1, MOST_BYTES));
    const base64 = Buffer.from(patternBytes(at, to, keyOf(work.seed, "stdin"))).toString("base64");
    const written = await post(`/sessions/${session}/input`, { base64, writer: "typist", at });
    const { status, body } = written;
    if ((status !== 200 && status !== 202) || body.from !== at || body.to !== to)
      throw wrong(`a write of ${at} to ${to}`, written);
    at = to;
  }

  for (;;) {
    const waited = await post(`/sessions/${session}/wait`, { until: { exit: true }, timeoutMs: 600_000 });
    const { outcome, exit } = waited.body as { outcome?: string; exit?: { code: number } };
    if (waited.status === 200 && outcome === "timeout") continue;
    if (waited.status !== 200 || outcome !== "met" || exit?.code !== 0) throw wrong("a wait for the exit", waited);
    return;
  }
}
