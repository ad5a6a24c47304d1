// Makes the bytes that redraw a pane from tmux's copy, history first, in place of output that clients did not get.

import { decodeUtf8, encodeUtf8 } from "../text/utf8-text.ts";

/** Format read by {@link redraw}. tmux leaves names empty that its version does not know. */
export const SCREEN_FORMAT = [
  "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}",
  "#{scroll_region_upper} #{scroll_region_lower} #{alternate_on} #{alternate_saved_x} #{alternate_saved_y}",
  "#{history_size}",
  ":#{cursor_flag}:#{insert_flag}:#{keypad_cursor_flag}:#{keypad_flag}:#{wrap_flag}:#{origin_flag}",
  ":#{mouse_standard_flag}:#{mouse_button_flag}:#{mouse_all_flag}:#{mouse_sgr_flag}:#{bracket_paste_flag}:#{pane_tabs}",
].join(" ");

/** Sequences of the modes in the format, for flags 1 and 0. A mode that tmux does not report is left as it is. */
const MODES: readonly (readonly [on: string, off: string])[] = [
  ["\u001b[?25h", "\u001b[?25l"],
  ["\u001b[4h", "\u001b[4l"],
  ["\u001b[?1h", "\u001b[?1l"],
  ["\u001b=", "\u001b>"],
  ["\u001b[?7h", "\u001b[?7l"],
  // Origin mode is set separately, before the cursor: it moves the cursor home and changes the meaning of its position.
  ["", ""],
  ["\u001b[?1000h", "\u001b[?1000l"],
  ["\u001b[?1002h", "\u001b[?1002l"],
  ["\u001b[?1003h", "\u001b[?1003l"],
  ["\u001b[?1006h", "\u001b[?1006l"],
  ["\u001b[?2004h", "\u001b[?2004l"],
];
const ORIGIN = 5;

const PLAIN = "\u001b[m";
const WRAP = "\u001b[?7h";
/**
 * Clears the terminal with its history, and resets what tmux reports or can't have left on. Keeps modes that tmux does not
 * report: their last known state is better than nothing. tmux uses SO for line drawing, in its answers and for programs.
 */
const CLEAR = `\u0018\u001b]8;;\u001b\\\u001b[?1049l\u001b[r\u001b[?6l\u001b[4l${WRAP}\u001b(B\u001b)0\u000f${PLAIN}\u001b[H\u001b[2J\u001b[3J`;

/** The answers to `capture`, in its order. */
export type Captured = {
  readonly state: readonly Uint8Array[];
  readonly history: readonly Uint8Array[];
  readonly screen: readonly Uint8Array[];
  /** The normal screen while the alternate one is shown; else empty. */
  readonly saved: readonly Uint8Array[];
};

/** @returns undefined if the state is malformed. */
export function redraw({ state, history, screen, saved }: Captured): Uint8Array | undefined {
  const text = decodeUtf8(state[0] ?? new Uint8Array(0));
  const [numbers = "", ...flags] = text.split(" :").join(":").split(":");
  const values = numbers.split(" ").map((value) => (value === "" ? 0 : Number(value)));
  if (values.length < 10 || !values.every(Number.isInteger) || flags.length < MODES.length) return undefined;
  const [cols = 0, rows = 0, x = 0, y = 0, upper = 0, lower = 0, alternate = 0, savedX = 0, savedY = 0, past = 0] =
    values;
  const parts: string[] = [CLEAR];
  // Without history, tmux answers with the first line of the screen.
  if (past > 0) {
    for (const line of history) parts.push(decodeUtf8(line), PLAIN, "\r\n");
    // The history moves above the screen only once a screen of lines has pushed it there.
    parts.push("\n".repeat(Math.max(0, rows - 1)));
  }
  if (alternate === 1) parts.push(drawn(saved, rows), place(savedX, savedY), "\u001b[?1049h");
  parts.push(drawn(screen, rows), tabStops(flags[MODES.length] ?? ""));
  if (upper > 0 || lower < rows - 1) parts.push(`\u001b[${upper + 1};${lower + 1}r`);
  const isOrigin = flags[ORIGIN] === "1";
  if (isOrigin) parts.push("\u001b[?6h");
  // After a character that filled its row the cursor waits to wrap, a state reached only by drawing it again.
  const isFull = x >= cols && screen[y] !== undefined;
  parts.push(place(isFull ? 0 : x, isOrigin ? y - upper : y));
  if (isFull) parts.push(decodeUtf8(screen[y] ?? new Uint8Array(0)), PLAIN);
  // Switch modes off first: switching off one kind of mouse report ends all kinds.
  for (const [wanted, at] of [
    ["0", 1],
    ["1", 0],
  ] as const)
    MODES.forEach((mode, i) => {
      if (flags[i] === wanted) parts.push(mode[at]);
    });
  return encodeUtf8(parts.join(""));
}

/** Positions each line, since a line may reach the right edge. */
function drawn(lines: readonly Uint8Array[], rows: number): string {
  return lines
    .slice(0, rows)
    .map((line, row) => `\u001b[${row + 1};1H${decodeUtf8(line)}${PLAIN}`)
    .join("");
}

/** @param stops Columns of the tab stops, separated by commas; "" if tmux reports none. */
function tabStops(stops: string): string {
  if (stops === "") return "";
  const set = stops.split(",").map((stop) => `\u001b[${Number(stop) + 1}G\u001bH`);
  return `\u001b[3g${set.join("")}`;
}

function place(x: number, y: number): string {
  return `\u001b[${y + 1};${x + 1}H`;
}
