// *wait* (T1 to T6): the core's state machine, told of the session's events.

import { compilePattern } from "@sbx/api/patterns";
import { lastOutput, Wait, type WaitUntil } from "sandbox-stdio/programs";
import { type Operation, type ProgramAnswer, refused, type WaitCondition } from "../call.ts";
import type { Reached } from "./reached.ts";
import { until } from "./until.ts";
import { CommandSource, cannotWait, type ProcessPorts, ScreenSource } from "./wait-sources.ts";

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

/** @param mayType Whether the keyboard is free or the asker's. */
export async function wait(
  reached: Reached,
  asked: Waiting,
  mayType: () => boolean,
  signal: AbortSignal,
  ports: ProcessPorts,
): Promise<ProgramAnswer> {
  const condition = conditionOf(asked.until);
  if ("status" in condition) return condition;
  const refusal = await cannotWait(condition, reached, ports);
  if (refusal !== undefined) return refusal;
  const { from, timeoutMs, maxBytes } = asked;
  const { log } = reached;
  const nowMs = Date.now();
  const waiting = new Wait({ until: condition, log, from, timeoutMs, nowMs });
  const ends = condition.kind === "commandEnd" ? await CommandSource.of(reached, ports) : undefined;
  const screen = condition.kind === "screen" ? new ScreenSource(reached, ports) : undefined;
  const look = () => {
    ends?.tell(waiting);
    screen?.tell(waiting);
    const now = Date.now();
    waiting.output(now);
    if (condition.kind === "keyboard") waiting.keyboard(mayType());
    // The last screen counts before the end does.
    if (reached.state !== "running" && screen?.isCurrent === false) return waiting.result !== undefined;
    if (reached.state === "exited" && reached.exit !== undefined) waiting.exited(reached.exit);
    else if (reached.state === "lost") waiting.lost();
    else if ((waiting.nextTickMs ?? Number.POSITIVE_INFINITY) <= now) waiting.tick(now);
    return waiting.result !== undefined;
  };
  // A search that takes long goes on in the next turn: the object serves other callers between.
  const next = () => {
    const atMs = waiting.isBehind ? Date.now() : waiting.nextTickMs;
    const screenMs = screen?.nextMs;
    return screenMs === undefined ? atMs : Math.min(screenMs, atMs ?? screenMs);
  };
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
