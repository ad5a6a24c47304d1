// *screen* and *commands* (S1, S2, C3): the bridge answers while the process runs, and the store answers after its exit.

import type { InnerClient, Question } from "sandbox-stdio/core";
import { type Operation, type ProgramAnswer, refused } from "./call.ts";
import type { Reached } from "./reached.ts";
import type { Screen } from "./redraw.ts";

const PATIENCE_MS = 2_000;
/** A wait has more time: a busy bridge must not pass for a shell without marks. */
const WAIT_PATIENCE_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

export const UNANSWERED: ProgramAnswer = {
  ...refused(503, "unavailable", "the session can't be reached just now: ask again"),
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

export type Kept = Readonly<Record<"screen" | "commands", Uint8Array | undefined>> & {
  readonly chunks?: Uint8Array | undefined;
};

/** The question at the exit of every terminal, whose answer is kept: it asks for as much as can be told later. */
export const LAST_SCREEN: Question = { about: "screen", scrollback: Number.MAX_SAFE_INTEGER, runs: true, ansi: true };

/** @returns JSON, as the bridge has it; undefined where there is no answer in time. */
export async function askProcess(
  hop: InnerClient,
  question: Question,
  patienceMs = PATIENCE_MS,
): Promise<Uint8Array | undefined> {
  const { answer, forget } = hop.ask(question);
  const timer = setTimeout(forget, patienceMs);
  const text = await answer;
  clearTimeout(timer);
  return text;
}

export async function screen(
  reached: Reached,
  { format, scrollback = 0 }: Extract<Operation, { type: "screen" }>,
  hop: InnerClient,
  kept: () => Kept,
  redraw: (seen: Screen, reached: Reached) => Promise<Screen | undefined>,
): Promise<ProgramAnswer> {
  if (!reached.isTty) return refused(409, "no_screen", "the process has pipes: there is no screen");
  const [runs, ansi] = [format === "json", format === "ansi"];
  const text =
    reached.state === "running" ? await askProcess(hop, { about: "screen", scrollback, runs, ansi }) : kept().screen;
  const state = keptState(text);
  if (state === undefined && reached.state === "lost") {
    return refused(409, "no_screen", "the process was lost before its screen was seen");
  }
  if (state === undefined) {
    const answer = refused(503, "no_screen_yet", "there is no screen yet: ask again");
    return { ...answer, retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
  // The last known screen of a lost process: its log may continue after it. A drawing is returned as it was.
  const isOlder = reached.state === "lost" && typeof state.offset === "number" && state.offset < reached.log.endOffset;
  const redrawn = isOlder && !ansi ? await redraw(state, reached) : undefined;
  const { runs: allRuns, ansi: drawing, scrollback: above, modes, partial: _, ...rest } = redrawn ?? state;
  const isBehind = isOlder && redrawn === undefined;
  const lines = Array.isArray(above) ? above.slice(Math.max(0, above.length - scrollback)) : [];
  const body = {
    ...rest,
    ...(isBehind ? { approximate: true } : {}),
    modes: toldModes(modes),
    ...(scrollback > 0 ? { scrollback: lines } : {}),
    ...(runs && allRuns !== undefined ? { runs: allRuns } : {}),
    ...(ansi && drawing !== undefined ? { ansi: drawing } : {}),
  };
  return { status: 200, body };
}

/** Modes in the contract. The bridge reports more, for the encoder of keys. */
function toldModes(modes: unknown): Readonly<Record<string, unknown>> {
  const { bracketedPaste, applicationCursor, mouse } = Object(modes) as Readonly<Record<string, unknown>>;
  return { bracketedPaste, applicationCursor, mouse };
}

/** @param lostAtMs When the process was lost, if it was: what it ran ended with it, at the end of what was received. */
export async function commands(
  reached: Reached,
  hop: InnerClient,
  kept: () => Kept,
  lostAtMs: number | undefined,
): Promise<ProgramAnswer> {
  const isRunning = reached.state === "running";
  const text = isRunning ? await askProcess(hop, { about: "commands" }) : kept().commands;
  const { commands: list = [], next = reached.log.endOffset } = keptState(text) ?? {};
  if (isRunning && text === undefined) return UNANSWERED;
  if (lostAtMs === undefined || !Array.isArray(list)) return { status: 200, body: { commands: list, next } };
  const end = { to: reached.log.endOffset, endedAt: new Date(lostAtMs).toISOString() };
  return { status: 200, body: { commands: list.map((command: object) => ({ ...end, ...command })), next } };
}

/** The bridge is in the sandbox: its answer may be anything. */
export function keptState(text: Uint8Array | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(text));
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined; // Not what a bridge of ours says.
  }
}

export type CommandEnd = { readonly to: number; readonly exit?: number };

/** The ends of a shell's commands so far, in their order. */
export async function commandEnds(
  reached: Reached,
  hop: InnerClient,
  kept: () => Kept,
): Promise<readonly CommandEnd[] | "no marks" | "no answer"> {
  const question = { about: "commands" } as const;
  let text = reached.state === "running" ? await askProcess(hop, question, WAIT_PATIENCE_MS) : kept().commands;
  // Just after the exit what is kept may be from before the first mark, and the bridge still knows.
  if (reached.state === "exited" && keptState(text)?.isMarked !== true) {
    text = (await askProcess(hop, question)) ?? kept().commands;
  }
  if (text === undefined) return "no answer";
  const { commands: list, isMarked } = keptState(text) ?? {};
  if (isMarked !== true || !Array.isArray(list)) return "no marks";
  const ends = (list as readonly { to?: unknown; exit?: unknown }[]).flatMap(({ to, exit }) =>
    typeof to === "number" ? [{ to, ...(typeof exit === "number" ? { exit } : {}) }] : [],
  );
  return ends.sort((a, b) => a.to - b.to);
}

/** Rows as drawn, and where in the output that was. */
export async function rowsOf(
  reached: Reached,
  hop: InnerClient,
  kept: () => Kept,
): Promise<{ readonly rows: readonly string[]; readonly offset: number } | undefined> {
  const question = { about: "screen", scrollback: 0, runs: false, ansi: false } as const;
  const { lines, offset } =
    keptState(reached.state === "running" ? await askProcess(hop, question) : kept().screen) ?? {};
  if (!Array.isArray(lines) || typeof offset !== "number") return undefined;
  return { rows: lines.filter((line) => typeof line === "string"), offset };
}
