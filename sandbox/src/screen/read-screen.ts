// A screen as programs are told it (S1): what a caller may ask for, and the limit of an answer.

import type { Terminal } from "@xterm/headless";
import { defined, type ScreenFacts, type StyleRun, screenFacts, textsOf, visibleRuns } from "sandbox-stdio/core";
import { coreOf } from "./internals.ts";

/** The parts of a screen that are asked for beside its text. */
export type ScreenRequest = {
  /** At most this many lines above the screen. */
  readonly scrollback: number;
  readonly runs: boolean;
  readonly ansi: boolean;
  /** How long `ansi` may be. Absent: as long as a snapshot. */
  readonly ansiBytes?: number;
};

export type ScreenState = ScreenFacts & {
  readonly offset: number;
  readonly lines: readonly string[];
  readonly scrollback?: readonly string[];
  /** One list for each of `lines`. */
  readonly runs?: readonly (readonly StyleRun[])[];
  readonly ansi?: string;
  readonly approximate?: true;
  readonly truncated?: true;
  /** `ansi` leaves out some of the screen: all of it did not fit. */
  readonly partial?: true;
};

/** An answer has at most 1 MiB, as JSON in UTF-8 with room for the fields around it. */
const MAX_STATE_BYTES = 1024 * 1024 - 16 * 1024;

export function readScreen(terminal: Terminal, request: ScreenRequest): Omit<ScreenState, "offset"> {
  const core = coreOf(terminal);
  const { active } = core.buffers;
  const { cols, rows } = terminal;
  const above = Math.min(request.scrollback, active.ybase);
  return {
    ...screenFacts(core, terminal),
    lines: textsOf(active, active.ybase, rows, cols),
    ...defined({
      scrollback: above === 0 ? undefined : textsOf(active, active.ybase - above, above, cols),
      runs: request.runs ? visibleRuns(active, terminal) : undefined,
    }),
  };
}

/** Cuts what is too long: the oldest of the scrollback first, then styles, then rows. */
export function withinLimit(state: ScreenState): ScreenState {
  if (bytesOf(state) <= MAX_STATE_BYTES) return state;
  const { scrollback = [], ...screen } = state;
  let left = MAX_STATE_BYTES - bytesOf(screen);
  const newest: string[] = [];
  for (const line of scrollback.toReversed()) {
    left -= bytesOf(line) + 1;
    if (left < 0) break;
    newest.unshift(line);
  }
  const kept = defined({ scrollback: newest.length === 0 ? undefined : newest });
  const cut: ScreenState = { ...screen, ...kept, truncated: true };
  if (bytesOf(cut) <= MAX_STATE_BYTES) return cut;
  const { runs: _, ...plain } = cut;
  if (bytesOf(plain) <= MAX_STATE_BYTES) return plain;
  // Rows of a thousand columns, each full of combining characters.
  const share = Math.floor(MAX_STATE_BYTES / 2 / state.rows / 6);
  return { ...plain, lines: plain.lines.map((line) => line.slice(0, share)) };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
