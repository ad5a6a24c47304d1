// *wait* (T1 to T6): the core's state machine, told of the session's events.

import { compilePattern } from "@sbx/api/patterns";
import { defined } from "sandbox-stdio/core";
import {
  isLossy,
  type KeptWait,
  lastOutput,
  outputBetween,
  Wait,
  type WaitUntil,
  type WorkShare,
} from "sandbox-stdio/programs";
import { type ProgramAnswer, refused, SECRET_ENTRY, type WaitOperation } from "./call.ts";
import type { Reached } from "./reached.ts";
import { CommandSource, cannotWait, type ProcessPorts, ScreenSource } from "./wait-sources.ts";

/** T1 with its expressions compiled, or why it can't be waited for. */
export function conditionOf(condition: WaitOperation["until"]): WaitUntil | ProgramAnswer {
  if ("exit" in condition) return { kind: "exit" };
  if ("text" in condition) return { kind: "text", text: condition.text };
  if ("idleMs" in condition) return { kind: "idle", idleMs: condition.idleMs };
  if ("commandEnd" in condition) return { kind: "commandEnd" };
  if ("keyboard" in condition) return { kind: "keyboard" };
  if ("ask" in condition) return { kind: "ask", id: condition.ask };
  const isMatch = "match" in condition;
  const compiled = compilePattern(isMatch ? condition.match : condition.screen, condition.flags);
  if (!compiled.ok) return refused(400, "bad_pattern", compiled.message);
  return { kind: isMatch ? "match" : "screen", program: compiled.program };
}

export type WaitingOptions = {
  readonly reached: Reached;
  readonly asked: WaitOperation;
  /** Whether the keyboard is free or the asker's. */
  readonly mayType: () => boolean;
  /** Whether a person may be typing a secret for the asker. */
  readonly isSecret: () => boolean;
  readonly ports: ProcessPorts;
  /** Share of the search work, which all waits of the session do. */
  readonly share: WorkShare;
  /** State of a wait that began in another life of the object. */
  readonly kept?: KeptWait | undefined;
};

/** One wait at a session that was reached. It has no timers: its owner has it look, and keeps the time. */
export class Waiting {
  readonly reached: Reached;
  readonly #asked: WaitOperation;
  readonly #mayType: () => boolean;
  readonly #isSecret: () => boolean;
  readonly #wait: Wait;
  readonly #ends: CommandSource | undefined;
  readonly #screen: ScreenSource | undefined;
  /** The time is over. A screen that has just changed is looked at all the same. */
  #isOver = false;

  private constructor(
    { reached, asked, mayType, isSecret, ports }: WaitingOptions,
    wait: Wait,
    ends: CommandSource | undefined,
  ) {
    this.reached = reached;
    this.#asked = asked;
    this.#mayType = mayType;
    this.#isSecret = isSecret;
    this.#wait = wait;
    this.#ends = ends;
    this.#screen = wait.until.kind === "screen" ? new ScreenSource(reached, ports) : undefined;
  }

  /** @returns Why it can't be waited for, if so. */
  static async of(options: WaitingOptions): Promise<Waiting | ProgramAnswer> {
    const { reached, asked, ports, kept, share } = options;
    const until = conditionOf(asked.until);
    if ("status" in until) return until;
    const ends = await CommandSource.of(until.kind, reached, ports);
    const refusal = kept === undefined ? cannotWait(until, reached, ends) : undefined;
    if (refusal !== undefined) return refusal;
    const { from, timeoutMs } = asked;
    const wait = new Wait({ until, log: reached.log, from, timeoutMs, nowMs: Date.now(), kept, share });
    return new Waiting(options, wait, ends);
  }

  /** Looks at all that may have changed. @returns What it comes to, if it does. */
  look(): ProgramAnswer | undefined {
    const { reached } = this;
    const wait = this.#wait;
    if (wait.until.kind !== "ask" && this.#isSecret()) return SECRET_ENTRY;
    this.#ends?.tell(wait);
    this.#screen?.tell(wait);
    const nowMs = Date.now();
    wait.output(nowMs);
    const { until } = wait;
    if (until.kind === "keyboard") wait.keyboard(this.#mayType());
    if (until.kind === "ask") wait.answered(reached.session?.state.asks.find(({ id }) => id === until.id)?.answer);
    // The last screen counts before the end does.
    const isCurrent = this.#screen?.isCurrent !== false;
    if (isCurrent && reached.state === "exited" && reached.exit !== undefined) wait.exited(reached.exit);
    else if (isCurrent && reached.state === "lost") wait.lost();
    else if (this.#isOver && (isCurrent || reached.state === "running")) wait.timeOver(nowMs);
    else if ((wait.nextTickMs ?? Number.POSITIVE_INFINITY) <= nowMs) wait.tick(nowMs);
    if (wait.result !== undefined) return this.#answer();
    return reached.isStale ? UNREACHABLE : undefined;
  }

  timeOver(): void {
    this.#isOver = true;
  }

  /** When to look again, as Date.now(), although nothing has changed: its search goes on, or the screen is on its way. */
  get nextMs(): number | undefined {
    return this.#wait.nextWorkMs(Date.now()) ?? this.#screen?.nextMs;
  }

  /** Whether its search has not come to the end of the output: there is no hurry to tell it of more. */
  get isBehind(): boolean {
    return this.#wait.isBehind;
  }

  /** In how many milliseconds it is met, if nothing comes: somebody has to look then. */
  get idleInMs(): number | undefined {
    const { until, nextTickMs } = this.#wait;
    return until.kind === "idle" && nextTickMs !== undefined ? Math.max(0, nextTickMs - Date.now()) : undefined;
  }

  get kept(): KeptWait {
    return this.#wait.kept;
  }

  #answer(): ProgramAnswer | undefined {
    const { result } = this.#wait;
    if (result === undefined) return undefined;
    const { outcome, undecided, offset, match, exit, answer, gap } = result;
    const { kind } = this.#wait.until;
    const body = {
      outcome,
      ...defined({ undecided }),
      offset,
      ...(kind === "match" || kind === "text" ? { searchedTo: offset } : {}),
      ...defined({ match, exit, answer, gap }),
    };
    const { log, state } = this.reached;
    const last = this.#isSecret() ? { output: "" } : lastOutput(log, this.#asked.maxBytes, state === "running");
    const isLossyMatch =
      match !== undefined && kind === "match" && isLossy(match.text, outputBetween(log, match.from, match.to));
    return { status: 200, body: { ...body, ...last, ...(isLossyMatch ? { lossy: true } : {}) } };
  }
}

const UNREACHABLE = refused(503, "unavailable", "the session can't be reached just now: ask again");
