// Bytes that draw a pane as tmux holds it, history first: a terminal gets them in place of output that no client has seen.

import { decodeUtf8, encodeUtf8 } from "../text/utf8-text.ts";

/** Read by {@link redraw}. An older or newer tmux leaves a name that it does not know empty. */
export const SCREEN_FORMAT = [
  "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y}",
  "#{scroll_region_upper} #{scroll_region_lower} #{alternate_on} #{alternate_saved_x} #{alternate_saved_y}",
  "#{history_size}",
  ":#{cursor_flag}:#{insert_flag}:#{keypad_cursor_flag}:#{keypad_flag}:#{wrap_flag}:#{origin_flag}",
  ":#{mouse_standard_flag}:#{mouse_button_flag}:#{mouse_all_flag}:#{mouse_sgr_flag}:#{bracket_paste_flag}",
].join(" ");

/** The modes at the end of the format: the sequence if the flag is 1, and if it is 0. */
const MODES: readonly (readonly [on: string, off: string])[] = [
  ["", "\u001b[?25l"],
  ["\u001b[4h", ""],
  ["\u001b[?1h", ""],
  ["\u001b=", ""],
  ["", "\u001b[?7l"],
  // Origin mode moves the cursor home and changes the meaning of its place, so it comes before the place.
  ["", ""],
  ["\u001b[?1000h", ""],
  ["\u001b[?1002h", ""],
  ["\u001b[?1003h", ""],
  ["\u001b[?1006h", ""],
  ["\u001b[?2004h", ""],
];
const ORIGIN = 5;

/** Resets the terminal, with its history. */
const RESET = "\u001bc";
const PLAIN = "\u001b[m";

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
  const [, rows = 0, x = 0, y = 0, upper = 0, lower = 0, alternate = 0, savedX = 0, savedY = 0, past = 0] = values;
  const parts: string[] = [RESET];
  // Where there is no history, tmux answers with the first line of the screen.
  if (past > 0) {
    for (const line of history) parts.push(decodeUtf8(line), PLAIN, "\r\n");
    // The history is above the screen only once a screen of lines has pushed it there.
    parts.push("\n".repeat(Math.max(0, rows - 1)));
  }
  if (alternate === 1) parts.push(drawn(saved, rows), place(savedX, savedY), "\u001b[?1049h");
  parts.push(drawn(screen, rows));
  if (upper > 0 || lower < rows - 1) parts.push(`\u001b[${upper + 1};${lower + 1}r`);
  MODES.forEach(([on, off], i) => {
    parts.push(flags[i] === "1" ? on : flags[i] === "0" ? off : "");
  });
  const isOrigin = flags[ORIGIN] === "1";
  if (isOrigin) parts.push("\u001b[?6h");
  parts.push(place(x, isOrigin ? y - upper : y));
  return encodeUtf8(parts.join(""));
}

/** Each line at its own row, even if a line reaches the right edge. */
function drawn(lines: readonly Uint8Array[], rows: number): string {
  return lines
    .slice(0, rows)
    .map((line, row) => `\u001b[${row + 1};1H${decodeUtf8(line)}${PLAIN}`)
    .join("");
}

function place(x: number, y: number): string {
  return `\u001b[${y + 1};${x + 1}H`;
}
