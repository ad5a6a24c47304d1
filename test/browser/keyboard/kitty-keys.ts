// Sixty keys as a person presses them, what each sends without kitty's protocol (recorded with xterm.js 6.0.0), and what the
// specification says of it with each flag. Knows nothing of the page's own encoder.

/** `u`: a number; `~`: one of a vt220; else a letter's. */
type Row = readonly [
  press: string,
  code: string,
  legacy: string,
  /** What it types by itself, and its key with Shift. */
  text?: string,
  shifted?: string,
];

const ROWS: readonly Row[] = [
  ["a", "97u", "a", "a"],
  ["z", "122u", "z", "z"],
  ["5", "53u", "5", "5"],
  ["Space", "32u", " ", " "],
  ["/", "47u", "/", "/"],
  ["[", "91u", "[", "["],
  ["Shift+A", "97u", "A", "A", "A"],
  ["Shift+Digit5", "53u", "%", "%", "%"],
  ["Shift+Slash", "47u", "?", "?", "?"],
  ["Shift+BracketLeft", "91u", "{", "{", "{"],
  ["Shift+Space", "32u", " ", " "],
  ["Control+a", "97u", "\x01"],
  ["Control+i", "105u", "\t"],
  ["Control+m", "109u", "\r"],
  ["Control+[", "91u", "\x1b"],
  ["Control+Space", "32u", "\0"],
  ["Control+Slash", "47u", "\x1f"], // Nothing with 6.0.0, where it was a fault.
  ["Control+Shift+A", "97u", "", "", "A"],
  ["Control+Shift+Digit5", "53u", "", "", "%"],
  ["Alt+a", "97u", "\x1ba"],
  ["Alt+[", "91u", "\x1b["],
  ["Alt+Shift+A", "97u", "\x1bA", "", "A"],
  ["Control+Alt+a", "97u", "\x1b\x01"],
  ["Control+Alt+Shift+A", "97u", "\x1b\x01", "", "A"],
  ["Enter", "13u", "\r"],
  ["Shift+Enter", "13u", "\r"],
  ["Control+Enter", "13u", "\r"],
  ["Alt+Enter", "13u", "\x1b\r"],
  ["Tab", "9u", "\t"],
  ["Shift+Tab", "9u", "\x1b[Z"],
  ["Control+Tab", "9u", "\t"],
  ["Backspace", "127u", "\x7f"],
  ["Control+Backspace", "127u", "\b"],
  ["Alt+Backspace", "127u", "\x1b\x7f"],
  ["Escape", "27u", "\x1b"],
  ["Shift+Escape", "27u", "\x1b"],
  ["Alt+Escape", "27u", "\x1b\x1b"],
  ["ArrowUp", "A", "\x1b[A"],
  ["Control+ArrowRight", "C", "\x1b[1;5C"],
  ["Shift+ArrowLeft", "D", "\x1b[1;2D"],
  ["Home", "H", "\x1b[H"],
  ["Control+End", "F", "\x1b[1;5F"],
  ["PageUp", "5~", "\x1b[5~"],
  ["Control+PageDown", "6~", "\x1b[6;5~"],
  ["Insert", "2~", "\x1b[2~"],
  ["Delete", "3~", "\x1b[3~"],
  ["Shift+Delete", "3~", "\x1b[3;2~"],
  ["F1", "P", "\x1bOP"],
  ["Shift+F1", "P", "\x1b[1;2P"],
  ["F3", "13~", "\x1bOR"],
  ["Control+F3", "13~", "\x1b[1;5R"],
  ["F4", "S", "\x1bOS"],
  ["F5", "15~", "\x1b[15~"],
  ["Alt+F12", "24~", "\x1b[24;3~"],
  ["Pause", "57362u", ""],
  ["NumpadAdd", "57413u", "+", "+"],
  ["NumpadEnter", "57414u", "\r"],
  ["Numpad4", "57417u", "\x1b[D"],
  ["Numpad5", "E", ""],
  ["Control+NumpadMultiply", "57411u", ""],
];

export const KEYS = ROWS.map(([press, code, legacy, text = "", shifted]) => ({ press, code, legacy, text, shifted }));
export type PressedKey = (typeof KEYS)[number];

const HELD: Readonly<Record<string, readonly [bit: number, number: number]>> = {
  Shift: [1, 57441],
  Alt: [2, 57443],
  Control: [4, 57442],
};
const BASIC: ReadonlySet<string> = new Set(["Enter", "Tab", "Backspace"]);

/** What the specification has sent from the first key down, in the order of `Control+a`, to the last key up. */
export function specified({ press, code, legacy, text, shifted }: PressedKey, flags: number): string {
  if ((flags & 11) === 0) return legacy;
  const [all, events] = [(flags & 8) !== 0, (flags & 2) !== 0];
  const names = press.split("+");
  const [last = "", held] = [names.at(-1) ?? "", names.slice(0, -1)];
  let sent = "";
  let bits = 0;
  for (const name of held) {
    bits |= HELD[name]?.[0] ?? 0;
    if (all) sent += sequence(`${HELD[name]?.[1]}u`, bits, 1, "");
  }
  const isPlain = BASIC.has(last) && bits === 0 && !all;
  const alternate = (flags & 4) !== 0 && shifted !== undefined ? `:${shifted.charCodeAt(0)}` : "";
  const number = code.replace("u", `${alternate}u`);
  if (isPlain || (text !== "" && !all)) sent += text === "" ? legacy : text;
  else if ((flags & 9) === 0) sent += legacy;
  else sent += sequence(number, bits, 1, all && (flags & 16) !== 0 ? text : "");
  const isEnter = last === "NumpadEnter" && (flags & 9) === 0;
  if (events && !isPlain && !isEnter) sent += sequence(withoutKeypad(number, flags), bits, 3, "");
  for (const name of held.toReversed()) {
    bits &= ~(HELD[name]?.[0] ?? 0);
    if (all && events) sent += sequence(`${HELD[name]?.[1]}u`, bits, 3, "");
  }
  return sent;
}

/** `CSI number ; modifiers : event ; text u`, where what says nothing is left out. */
function sequence(code: string, bits: number, event: number, text: string): string {
  const [number, end] = [code.slice(0, -1), code.slice(-1)];
  const second = bits === 0 && event === 1 ? "" : `${bits + 1}${event === 1 ? "" : `:${event}`}`;
  const third = text === "" ? "" : `;${text.charCodeAt(0)}`;
  const tail = second === "" && third === "" ? "" : `;${second}${third}`;
  return `\x1b[${number === "" && tail !== "" ? "1" : number}${tail}${end}`;
}

/** Without flags 1 and 8 a key of the keypad is the key that does the same elsewhere. */
function withoutKeypad(number: string, flags: number): string {
  if ((flags & 9) !== 0) return number;
  return { "57413u": "43u", "57411u": "42u", "57417u": "D" }[number] ?? number;
}
