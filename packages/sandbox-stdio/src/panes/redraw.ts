// Bytes that draw a pane as tmux holds it, history first: a terminal gets them in place of output that no client has seen.

import { decodeUtf8, encodeUtf8 } from "../text/utf8-text.ts";

/** Read by {@link redraw}. An older or newer tmux leaves a name that it does not know empty. */
export const SCREEN_FORMAT = [
  "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}",
  "#{scroll_region_upper} #{scroll_region_lower} #{alternate_on} #{alternate_saved_x} #{alternate_saved_y}",
  "#{history_size}",
  ":#{cursor_flag}:#{insert_flag}:#{keypad_cursor_flag}:#{keypad_flag}:#{wrap_flag}:#{origin_flag}",
  ":#{mouse_standard_flag}:#{mouse_button_flag}:#{mouse_all_flag}:#{mouse_sgr_flag}:#{bracket_paste_flag}:#{pane_tabs}",
].join(" ");

/** The modes in the format: the sequence if the flag is 1, and if it is 0. One that tmux does not tell stays as it is. */
const MODES: readonly (readonly [on: string, off: string])[] = [
  ["\u001b[?25h", "\u001b[?25l"],
  ["\u001b[4h", "\u001b[4l"],
  ["\u001b[?1h", "\u001b[?1l"],
  ["\u001b=", "\u001b>"],
  ["\u001b[?7h", "\u001b[?7l"],
  // Origin mode moves the cursor home and changes the meaning of its place: it comes before the place, and these behind it.
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
 * Clears the terminal, with its history, and sets back what tmux tells or can't have left on. Not the modes that tmux may keep to
 * itself: what was known of them before the loss is more than nothing. Line drawing is SO in tmux's answers, and in programs for it.
 */
const CLEAR = `\u0018\u001b]8;;\u001b\\\u001b[?1049l\u001b[r\u001b[?6l\u001b[4l${WRAP}\u001b(B\u001b)0\u000f${PLAIN}\u001b[H\u001b[2J\u001b[3J`;

/** The answers to one `capture`, in the order in which it asks. */
export type Captured = {
  readonly state: readonly Uint8Array[];
  readonly history: readonly Uint8Array[];
  readonly screen: readonly Uint8Array[];
  /** The main screen, while the alternate one is seen; else nothing. */
  readonly saved: readonly Uint8Array[];
};

/** @returns undefined if the state is not as asked. */
export function redraw({ state, history, screen, saved }: Captured): Uint8Array | undefined {
  const text = decodeUtf8(state[0] ?? new Uint8Array(0));
  const [numbers = "", ...flags] = text.split(" :").join(":").split(":");
  const values = numbers.split(" ").map((value) => (value === "" ? 0 : Number(value)));
  if (values.length < 10 || !values.every(Number.isInteger) || flags.length < MODES.length) return undefined;
  const [cols = 0, rows = 0, x = 0, y = 0, upper = 0, lower = 0, alternate = 0, savedX = 0, savedY = 0, past = 0] =
    values;
  const parts: string[] = [CLEAR];
  // Where there is no history, tmux answers with the first line of the screen.
  if (past > 0) {
    for (const line of history) parts.push(decodeUtf8(line), PLAIN, "\r\n");
    // The history is above the screen only once a screen of lines has pushed it there.
    parts.push("\n".repeat(Math.max(0, rows - 1)));
  }
  if (alternate === 1) parts.push(drawn(saved, rows), place(savedX, savedY), "\u001b[?1049h");
  parts.push(drawn(screen, rows), tabStops(flags[MODES.length] ?? ""));
  if (upper > 0 || lower < rows - 1) parts.push(`\u001b[${upper + 1};${lower + 1}r`);
  const isOrigin = flags[ORIGIN] === "1";
  if (isOrigin) parts.push("\u001b[?6h");
  // A character that has filled its row waits there for the next one: only drawing it once more leads there.
  const isFull = x >= cols && screen[y] !== undefined;
  parts.push(place(isFull ? 0 : x, isOrigin ? y - upper : y));
  if (isFull) parts.push(decodeUtf8(screen[y] ?? new Uint8Array(0)), PLAIN);
  // All that are off first: to switch off one kind of mouse report ends every kind.
  for (const [wanted, at] of [
    ["0", 1],
    ["1", 0],
  ] as const)
    MODES.forEach((mode, i) => {
      if (flags[i] === wanted) parts.push(mode[at]);
    });
  return encodeUtf8(parts.join(""));
}

/** Each line at its own row, even if a line reaches the right edge. */
function drawn(lines: readonly Uint8Array[], rows: number): string {
  return lines
    .slice(0, rows)
    .map((line, row) => `\u001b[${row + 1};1H${decodeUtf8(line)}${PLAIN}`)
    .join("");
}

/** @param stops The columns of the stops, with commas between; "": tmux does not tell, or the program has taken all away. */
function tabStops(stops: string): string {
  if (stops === "") return "";
  const set = stops.split(",").map((stop) => `\u001b[${Number(stop) + 1}G\u001bH`);
  return `\u001b[3g${set.join("")}`;
}

function place(x: number, y: number): string {
  return `\u001b[${y + 1};${x + 1}H`;
}
