// Sequences that change how a terminal draws and types, at random: what programs use, and what they rarely do.

import fc from "fast-check";

const one = (...texts: readonly string[]) => fc.constantFrom(...texts);
const PRIVATE = [
  ...[1, 5, 6, 7, 9, 12, 25, 45, 47, 66, 69, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016],
  ...[1047, 1048, 1049, 2004, 2026, 2031, 2048],
];

const STEP = fc.oneof(
  fc
    .tuple(fc.constantFrom(...PRIVATE), fc.constantFrom(...PRIVATE), one("h", "l"))
    .map(([a, b, end]) => `\x1b[?${a};${b}${end}`),
  fc.tuple(fc.constantFrom(...PRIVATE), one("h", "l")).map(([mode, end]) => `\x1b[?${mode}${end}`),
  fc.tuple(one("4", "20", "4;20"), one("h", "l")).map(([modes, end]) => `\x1b[${modes}${end}`),
  fc.tuple(one("(", ")", "*", "+", "-"), one("0", "A", "B", "4")).map(([slot, set]) => `\x1b${slot}${set}`),
  one("\x0e", "\x0f", "\x1bn", "\x1bo", "\x1b~", "\x1b}", "\x1b|"),
  one("\x1b=", "\x1b>", "\x1b[!p", "\x1bc", "\x1b7", "\x1b8", "\x1b[s", "\x1b[u"),
  one("\x1bH", "\x1b[g", "\x1b[3g", "\x1b[r", "\x1b[2;5r", "\x1b[3;20H", "\x1b[H", "text\r\n"),
  one("\x1b[m", "\x1b[1;3;44m", "\x1b[38;5;9;4:3m", "\x1b[0;7m", '\x1b[1"q', '\x1b[0"q'),
  fc.nat(6).map((shape) => `\x1b[${shape} q`),
  one("\x1b]8;;http://a\x1b\\", "\x1b]8;;\x07", "\x1b]8;id=1;http://b\x07"),
  one(
    "\x1b]4;1;#f00;2;?\x07",
    "\x1b]104;1\x07",
    "\x1b]104\x07",
    "\x1b]11;#00f\x1b\\",
    "\x1b]111\x07",
    "\x1b]10;#f00;;#f0f\x07",
  ),
  one("\x1b[>4;2m", "\x1b[>4m", "\x1b[>4n", "\x1b[=5u", "\x1b[>1u", "\x1b[<u"),
);

/** Up to fifty of them. */
export const ANY_MODES = fc.array(STEP, { maxLength: 50 }).map((steps) => steps.join(""));
