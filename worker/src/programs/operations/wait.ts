// *wait* (T1 to T6): the core's state machine, told of what happens at the session.

import { compilePattern } from "@sbx/api/patterns";
import { lastOutput, Wait, type WaitUntil } from "@sbx/sandbox-stdio/programs";
import { type Operation, type ProgramAnswer, refused, type WaitCondition } from "../call.ts";
import type { Reached } from "./reached.ts";
import { until } from "./until.ts";

type Waiting = Extract<Operation, { type: "wait" }>;

/** T1 with its expressions compiled, or why it can't be waited for. */
export function conditionOf(condition: WaitCondition): WaitUntil | ProgramAnswer {
  if ("exit" in condition) return { kind: "exit" };
  if ("text" in condition) return { kind: "text", text: condition.text };
  if ("idleMs" in condition) return { kind: "idle", idleMs: condition.idleMs };
  if ("commandEnd" in condition) return { kind: "commandEnd" };
  if ("keyboard" in condition) return { kind: "keyboard" };
  const isMatch = "match" in condition;
  const compiled = compilePattern(isMatch ? condition.match : condition.screen, condition.flags);
  if (!compiled.ok) return refused(400, "bad_pattern", compiled.message);
  return { kind: isMatch ? "match" : "screen", program: compiled.program };
}

/**
 * Why this session has nothing of the kind to wait for; undefined where it has.
 * The marks of commands and the screen come to this object with the operations that tell of them.
 */
export function cannotWait({ kind }: WaitUntil): ProgramAnswer | undefined {
  if (kind === "commandEnd") return refused(409, "no_marks", "the session has shown no marks of its commands");
  if (kind === "screen") return refused(409, "no_screen", "the session has no screen to look at");
  return undefined;
}

/** @param mayType Whether the keyboard is free or the asker's. */
export async function wait(
  reached: Reached,
  asked: Waiting,
  mayType: () => boolean,
  signal: AbortSignal,
): Promise<ProgramAnswer> {
  const condition = conditionOf(asked.until);
  if ("status" in condition) return condition;
  const refusal = cannotWait(condition);
  if (refusal !== undefined) return refusal;
  const { from, timeoutMs, maxBytes } = asked;
  const { log } = reached;
  const nowMs = Date.now();
  const waiting = new Wait({ until: condition, log, from, timeoutMs, nowMs });
  const look = () => {
    const now = Date.now();
    waiting.output(now);
    if (condition.kind === "keyboard") waiting.keyboard(mayType());
    if (reached.state === "exited" && reached.exit !== undefined) waiting.exited(reached.exit);
    else if (reached.state === "lost") waiting.lost();
    else if ((waiting.nextTickMs ?? Number.POSITIVE_INFINITY) <= now) waiting.tick(now);
    return waiting.result !== undefined;
  };
  // Where a search takes long it goes on in the next turn: others are served between.
  const next = () => (waiting.isBehind ? Date.now() : waiting.nextTickMs);
  await until(reached, Number.POSITIVE_INFINITY, signal, look, next);
  const { result } = waiting;
  if (result === undefined) return refused(503, "unavailable", "the session can't be reached just now: ask again");
  const { outcome, offset, match, exit, gap } = result;
  const body = {
    outcome,
    offset,
    ...(match === undefined ? {} : { match }),
    ...(exit === undefined ? {} : { exit }),
    ...(gap === undefined ? {} : { gap }),
    output: lastOutput(log, maxBytes),
  };
  return { status: 200, body };
}
