// The screen of a lost process (S2a), drawn on from the last that was seen by the output that came behind it. Work is bounded beforehand:
// the clock of a Worker stands still while it runs, and others wait for it.

import { Unicode11Addon } from "@xterm/addon-unicode11/lib/addon-unicode11.mjs";
import { Terminal } from "@xterm/headless/lib-headless/xterm-headless.mjs";
import {
  limitWork,
  MAX_COLS,
  MAX_ROWS,
  mendFaults,
  type OutputLog,
  type ScreenSize,
  screenFacts,
  textsOf,
  visibleRuns,
  worstNsPerByte,
  type XtermCore,
  xtermCoreOf,
} from "sandbox-stdio/core";

/** What parsing may take, by an estimate that is never too low. */
const MOST_NS = 250_000_000;
/** A control sequence may change every cell, whatever its length. */
const SEQUENCE_BYTES = 4;
const MOST_ABOVE = 1_000;
/** Most cells of lines above the screen: 6 MB of memory. */
const MOST_CELLS_ABOVE = 500_000;
const PIECE_BYTES = 16_384;

export type Screen = Readonly<Record<string, unknown>>;

/** @returns The screen at the log's end; undefined where it can't be drawn, or not in time. */
export async function redraw(seen: Screen, log: OutputLog): Promise<Screen | undefined> {
  const { ansi, offset, cols, rows } = seen;
  if (typeof ansi !== "string" || typeof offset !== "number" || !Number.isSafeInteger(offset)) return undefined;
  if (offset < log.startOffset || offset > log.endOffset) return undefined;
  if (!isWithin(cols, MAX_COLS) || !isWithin(rows, MAX_ROWS)) return undefined;
  const output = outputOf(log, offset);
  // The largest of all sizes that the terminal had.
  const largest = output.reduce(
    (size, one) => ({ cols: Math.max(size.cols, one.cols), rows: Math.max(size.rows, one.rows) }),
    { cols, rows },
  );
  const drawing = new TextEncoder().encode(ansi);
  const pieces = [drawing, ...output.map(({ bytes }) => bytes)];
  if (pieces.reduce((ns, bytes) => ns + mostNs(bytes, largest), 0) > MOST_NS) return undefined;
  const scrollback = Math.min(MOST_ABOVE, Math.floor(MOST_CELLS_ABOVE / largest.cols));
  const terminal = terminalOf(cols, rows, scrollback);
  try {
    let title = seen.title;
    await written(terminal, drawing);
    terminal.onTitleChange((told) => {
      title = told;
    });
    // What the drawing has above its screen is in what was seen, too.
    const core = xtermCoreOf(terminal);
    const { normal } = core.buffers;
    const drawnAbove = normal.ybase;
    let isAnew = seen.alternate === true;
    // What was above is cleared.
    terminal.parser.registerCsiHandler({ final: "J" }, ([which]) => {
      isAnew ||= which === 3;
      return false;
    });
    terminal.parser.registerEscHandler({ final: "c" }, () => {
      isAnew = true;
      return false;
    });
    for (const one of output) {
      if (one.cols !== terminal.cols || one.rows !== terminal.rows) {
        terminal.resize(one.cols, one.rows);
        isAnew = true;
      }
      await written(terminal, one.bytes);
    }
    isAnew ||= normal.ybase === scrollback;
    const earlier = isAnew || !Array.isArray(seen.scrollback) ? [] : seen.scrollback;
    const from = isAnew ? 0 : drawnAbove;
    const above = [...earlier, ...textsOf(normal, from, normal.ybase - from, terminal.cols)];
    const { ansi: _, scrollback: __, ...rest } = seen;
    const screen = shown(terminal, core);
    return { ...rest, ...screen, title, scrollback: screen.alternate === true ? [] : above, offset: log.endOffset };
  } catch {
    return undefined; // The emulator has faults of its own, with sizes that change.
  } finally {
    terminal.dispose();
  }
}

type Output = { readonly bytes: Uint8Array; readonly cols: number; readonly rows: number };

/** In the sizes that the terminal had. */
function outputOf(log: OutputLog, from: number): Output[] {
  const output: Output[] = [];
  for (let at = from; at < log.endOffset; ) {
    const item = log.itemAt(at, PIECE_BYTES);
    if (item.kind !== "bytes") break;
    const bytes = new Uint8Array(item.length);
    log.copy(at, item.length, bytes, 0);
    output.push({ bytes, ...log.sizeAt(at) });
    at += item.length;
  }
  return output;
}

const ESC = 0x1b;
/** Begins the controls of C1, which are sequences of one character. */
const C1 = 0xc2;
const PLAIN_NS = 100;
/** A line feed moves lines, and clears one. */
const NS_PER_CELL = 5;

function mostNs(bytes: Uint8Array, { cols, rows }: ScreenSize): number {
  let sequences = 0;
  for (const byte of bytes) if (byte === ESC || byte === C1) sequences += 1;
  const each = SEQUENCE_BYTES * worstNsPerByte({ cols, rows, markers: [] });
  return sequences * each + bytes.length * (PLAIN_NS + NS_PER_CELL * (cols + rows));
}

function isWithin(value: unknown, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}

export function terminalOf(cols: number, rows: number, scrollback: number): Terminal {
  const terminal = new Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: "off" });
  terminal.loadAddon(new Unicode11Addon());
  terminal.unicode.activeVersion = "11";
  mendFaults(terminal);
  limitWork(terminal);
  return terminal;
}

export const written = (terminal: Terminal, bytes: Uint8Array) =>
  new Promise<void>((resolve) => terminal.write(bytes, resolve));

/** As the bridge tells it, but for the lines above. */
function shown(terminal: Terminal, core: XtermCore): Screen {
  const { active } = core.buffers;
  return {
    ...screenFacts(core, terminal),
    lines: textsOf(active, active.ybase, terminal.rows, terminal.cols),
    runs: visibleRuns(active, terminal),
  };
}
