// *read* (D1 to D6): the bytes of a range, as soon as there are any.

import { defined } from "sandbox-stdio/core";
import { type Attention, readOutput } from "sandbox-stdio/programs";
import { type Operation, type ProgramAnswer, refused } from "./call.ts";
import { type Reached, stateOf } from "./reached.ts";
import { until } from "./until.ts";

type Read = Extract<Operation, { type: "read" }>;

export async function read(reached: Reached, asked: Read, signal: AbortSignal): Promise<ProgramAnswer> {
  const deadlineMs = Date.now() + asked.waitMs;
  // Without `from` and `tail` the oldest output that is held now counts, even if it is dropped meanwhile.
  const start = asked.tail === undefined ? (asked.from ?? reached.log.startOffset) : undefined;
  let passed = start;
  const look = () => {
    const canGrow = reached.state === "running";
    const result = readOutput(reached.log, passed === undefined ? asked : { ...asked, from: passed }, canGrow);
    const isEmpty = result.ok && result.bytes.length === 0 && result.gap === undefined;
    // What comes of the other stream meanwhile is passed over: once it is overwritten, it could not be told from a gap.
    if (result.ok && isEmpty && passed !== undefined) passed = result.next;
    const isAtEnd = result.ok && asked.to !== undefined && result.next >= asked.to;
    return { result, isDue: !isEmpty || !canGrow || isAtEnd || attentionsOf(reached, asked).length > 0 };
  };
  let { result, isDue } = look();
  if (!isDue && asked.waitMs > 0) {
    await until(reached, deadlineMs, signal, () => {
      ({ result, isDue } = look());
      return isDue;
    });
    ({ result } = look());
  }
  if (reached.isStale) return refused(503, "unavailable", "the session can't be reached just now: ask again");
  if (!result.ok) {
    return refused(400, "bad_offset", `the output ends at ${result.end}`, { end: result.end });
  }
  const { from, next, end, gap, bytes } = result;
  const body = {
    incarnation: reached.incarnation,
    ...stateOf(reached),
    from: gap === undefined ? (start ?? from) : from,
    next,
    end,
    ...defined({ gap }),
    ...defined({ attentions: asked.attentionAfter === undefined ? undefined : attentionsOf(reached, asked) }),
  };
  return { status: 200, body, bytes };
}

function attentionsOf({ session }: Reached, { attentionAfter }: Read): readonly Attention[] {
  if (attentionAfter === undefined || session === undefined) return [];
  return session.programs.attentions.filter(({ offset }) => offset > attentionAfter);
}
