// What a person saw, held against the far program's screen. A key's effect is how it changes the cells of the cursor's rows and the
// cursor, at a terminal without a link. It is shown at once if the person's screen has all of that 5 ms after the press. A key is
// shown wrongly if a cell changed in that time to what the far screen has there neither before nor soon after.

import xterm from "@xterm/headless";
import { COLS, type Recording, ROWS } from "./record.ts";
import { SECRET, type Step } from "./typist.ts";

const AT_ONCE_MS = 5;
/** Far screens, in keys, from which output may come late, and to which a program beside the link may be late itself. */
const [KEYS_BEFORE, KEYS_AFTER] = [40, 2];

type Screen = { readonly rows: readonly string[]; readonly row: number; readonly column: number };

export type Verdict = {
  keys: number;
  shown: number;
  wrong: number;
  /** How long each wrong cell stayed wrong, in ms. */
  mendMs: number[];
  secretsShown: number;
  /** People whose screen was not the far one in the end. */
  differing: number;
  /** Keys, and those shown at once, by program. */
  programs: Map<string, [keys: number, shown: number]>;
};

export function newVerdict(): Verdict {
  return { keys: 0, shown: 0, wrong: 0, mendMs: [], secretsShown: 0, differing: 0, programs: new Map() };
}

/** A recording that is played again, forward only. */
class Player {
  readonly #terminal = new xterm.Terminal({ cols: COLS, rows: ROWS, scrollback: 0, allowProposedApi: true });
  readonly #recording: Recording;
  #next = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  /** When the next output came. */
  get nextAtMs(): number {
    return this.#recording.chunks[this.#next]?.atMs ?? Number.POSITIVE_INFINITY;
  }

  async playTo(ms: number): Promise<void> {
    for (; this.nextAtMs <= ms; this.#next += 1) this.#terminal.write(this.#recording.chunks[this.#next]?.bytes ?? "");
    await new Promise<void>((resolve) => this.#terminal.write("", resolve));
  }

  get screen(): Screen {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: ROWS }, (_, y) => active.getLine(active.baseY + y)?.translateToString() ?? "");
    return { rows, row: active.cursorY, column: active.cursorX };
  }
}

/** @param steps Typed in both. @param truth Of the terminal without a link. */
export async function judge(
  steps: readonly Step[],
  seen: Recording,
  truth: Recording,
  verdict: Verdict,
): Promise<void> {
  const far = await screensAfter(truth);
  const player = new Player(seen);
  let open: { row: number; column: number; shown: string; atMs: number }[] = [];
  for (const [at, step] of steps.entries()) {
    const pressed = seen.pressedAtMs[at] ?? 0;
    while (open.length > 0 && player.nextAtMs < pressed) {
      const atMs = player.nextAtMs;
      await player.playTo(atMs);
      const { rows } = player.screen;
      for (const cell of open) if (rows[cell.row]?.[cell.column] !== cell.shown) verdict.mendMs.push(atMs - cell.atMs);
      open = open.filter((cell) => rows[cell.row]?.[cell.column] === cell.shown);
    }
    await player.playTo(pressed);
    const before = player.screen;
    const [farBefore, farAfter] = [far[at], far[at + 1]];
    if (farBefore === undefined || farAfter === undefined) break;
    if (at === steps.length - 1) {
      verdict.differing += Number(before.rows.join("\n") !== farBefore.rows.join("\n"));
      break; // It ends the shell.
    }
    const hasEffect = changes(farBefore, farAfter);
    let after = before;
    if (player.nextAtMs <= pressed + AT_ONCE_MS) {
      await player.playTo(pressed + AT_ONCE_MS);
      after = player.screen;
    }
    const isShown = hasEffect && after !== before && has(after, farBefore, farAfter);
    const known = far.slice(Math.max(0, at - KEYS_BEFORE), at + 2 + KEYS_AFTER);
    const wrong = after === before ? [] : wrongCells(before, after, known);
    if (step.isSecret && wrong.some(({ shown }) => SECRET.includes(shown))) verdict.secretsShown += 1;
    if (wrong.length > 0) {
      verdict.wrong += 1;
      open.push(...wrong.slice(0, 1).map((cell) => ({ ...cell, atMs: pressed })));
    }
    if (!hasEffect) continue;
    const [keys, shown] = verdict.programs.get(step.program) ?? [0, 0];
    verdict.programs.set(step.program, [keys + 1, shown + Number(isShown)]);
    verdict.keys += 1;
    verdict.shown += Number(isShown);
  }
}

/** @returns The screen before the first key, and that after each: what it was at the next one. */
async function screensAfter(truth: Recording): Promise<readonly Screen[]> {
  const player = new Player(truth);
  const screens: Screen[] = [];
  for (const ms of [...truth.pressedAtMs, Number.POSITIVE_INFINITY]) {
    await player.playTo(Math.min(ms, Number.MAX_VALUE));
    screens.push(player.screen);
  }
  return screens;
}

function changes(before: Screen, after: Screen): boolean {
  const isMoved = before.row !== after.row || before.column !== after.column;
  return isMoved || before.rows[after.row] !== after.rows[after.row];
}

/** Whether the screen has, in the cursor's rows, all that changed over there, and the cursor. */
function has(screen: Screen, before: Screen, after: Screen): boolean {
  if (screen.row !== after.row || screen.column !== after.column) return false;
  return [before.row, after.row].every((row) => {
    const [old = "", wanted = "", shown = ""] = [before.rows[row], after.rows[row], screen.rows[row]];
    return [...wanted].every((character, column) => character === old[column] || character === shown[column]);
  });
}

function wrongCells(before: Screen, after: Screen, known: readonly Screen[]) {
  const cells: { row: number; column: number; shown: string }[] = [];
  for (const [row, text] of after.rows.entries()) {
    if (text === before.rows[row] || known.some(({ rows }) => rows[row] === text)) continue;
    for (const [column, shown] of [...text].entries()) {
      // Programs clear what they are about to draw; a guess of ours blanks no other row.
      const isNew = shown !== before.rows[row]?.[column] && (shown !== " " || row === after.row);
      if (isNew && !known.some(({ rows }) => rows[row]?.[column] === shown)) cells.push({ row, column, shown });
    }
  }
  return cells;
}
