// What runs of the simulation did, replayed in the model: it must allow every step. `MODEL=whole` (test:long) replays each plain fault at
// each boundary, also of a session that is parked, and three of one whose window holds it, where each costs minutes; else one. And in
// copies of the core that break a rule each, a step must be found that it does not allow.

import { expect, test } from "vitest";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { type Change, runMutated } from "../exploration/mutants.ts";
import { replaySeen } from "./seen.ts";

const timeout = 3_600_000;
const isWhole = process.env.MODEL === "whole";
const EXCHANGES = isWhole
  ? [
      ["bytes", "whole"],
      ["parked", "whole"],
      ["held", "some"],
    ]
  : [["least", "cut outer 0 loses true,true heard true,true"]];

test.each(EXCHANGES)("the model allows each step of the core, whatever breaks: %s", { timeout }, async (...which) => {
  const { code, said } = await runMutated([], "model/trace-one.ts", ...which);
  console.log(said);
  expect([code, said]).toEqual([0, expect.stringMatching(/^{"runs":\d{2,},"steps":\d{3,}}\n$/)]);
  const { runs, steps } = JSON.parse(said) as { runs: number; steps: number };
  noteCounts({ "runs replayed": runs, "steps replayed": steps });
});

const BROKEN: readonly [rule: string, step: string, changes: readonly Change[], exchange?: "parked" | "held"][] = [
  [
    "R1: output continues at the log's start, and not where the client asks",
    "greeted 0",
    [
      {
        file: "session/attach.ts",
        right: "Math.max(request.offset ?? 0, log.startOffset)",
        wrong: "log.startOffset",
      },
    ],
  ],
  [
    "I2: input is settled when it was received",
    "settled",
    [
      {
        file: "session/client-input.ts",
        right: "Math.min(client.input.taken, recorder?.storedUpTo(client.id) ?? client.input.taken)",
        wrong: "recorder === undefined ? client.input.received : client.input.taken",
      },
    ],
  ],
  [
    "I5: input that comes again is taken again",
    "reads",
    [
      { file: "session/client-input.ts", right: "if (isDuplicate) {", wrong: "if (isDuplicate && length === 0) {" },
      {
        file: "input/input-queue.ts",
        right: "const fresh = offset + bytes.length - this.#received;",
        wrong: "const fresh = bytes.length;",
      },
    ],
  ],
  [
    "H4: after a break of the inner hop output goes on a byte too late",
    "hears",
    [
      {
        file: "hop/inner-server.ts",
        right: "const offset = Math.max(asked ?? 0, this.#end.session.log.startOffset);",
        wrong: "const { log } = this.#end.session;\n    const offset = Math.min((asked ?? -1) + 1, log.endOffset);",
      },
    ],
  ],
  [
    "R1: a client asks again for what it has received and not processed",
    "greeted",
    [
      {
        file: "client/client.ts",
        right: 'resume.set("offset", String(received))',
        wrong: 'resume.set("offset", String(processedTo))',
      },
    ],
  ],
  [
    "H21: a parked session wakes up a byte before the end of its output",
    "hears",
    [{ file: "session/parking.ts", right: "end: log.endOffset,", wrong: "end: Math.max(0, log.endOffset - 1)," }],
    "parked",
  ],
  [
    "W7: no window holds the process",
    "writes 5",
    [
      {
        file: "session/pace.ts",
        right: "return isWindowSpent({ acked, windowBytes }, this.#log.endOffset, this.#log.frameBytes);",
        wrong: "return acked + windowBytes < 0;",
      },
    ],
    "held",
  ],
];

/** The one that shows at the first boundary. */
const EARLY = BROKEN.filter(([rule]) => rule.startsWith("I2"));

test.each(isWhole ? BROKEN : EARLY)("the model does not allow: %s", { timeout }, async (...broken) => {
  const [, step, changes, exchange = "bytes"] = broken;
  const { code, said } = await runMutated(changes, "model/trace-one.ts", exchange, "some");
  expect(said).toMatch(new RegExp(`the model does not allow: ${step}`));
  expect(code).toBe(1);
  noteCounts({ "broken builds found": 1 });
});

test.each([
  [["greeted 100", "hears 200", "hears exit"], undefined],
  [["greeted 99", "hears 200", "hears exit"], "the model does not allow: greeted 0"],
  [["greeted 200"], "the model does not allow: greeted 2"],
  [["greeted 100", "hears exit"], "the model does not allow: hears exit"],
])("of what a client alone has seen, cut after half of 200 bytes, then %j", (then, fault) => {
  const steps = ["connects", "greeted 0", "hears 70", "processes 70", "hears 100", "connects", ...then];
  const replayed = () => replaySeen({ output: 200, input: 0, steps });
  if (fault === undefined) expect(replayed()).toBeGreaterThan(6);
  else expect(replayed).toThrow(fault);
});
