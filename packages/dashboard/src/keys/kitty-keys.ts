// Writes a key as kitty's keyboard protocol says (https://sw.kovidgoyal.net/kitty/keyboard-protocol). Pure. The encoder of xterm.js 6.1
// leaves out locks, the keypad's own keys, unshifted punctuation and base layout keys, and has F1 to F4 of the legacy protocol.

export const DISAMBIGUATE = 1;
export const EVENT_TYPES = 2;
const ALTERNATE_KEYS = 4;
export const ALL_KEYS = 8;
const TEXT = 16;
export const PRESS = 1;
export const RELEASE = 3;

const [SHIFT, ALT, CTRL, SUPER, CAPS_LOCK, NUM_LOCK] = [1, 2, 4, 8, 64, 128];

/** The members used of a KeyboardEvent. */
export type Key = Pick<KeyboardEvent, "key" | "code" | "shiftKey" | "altKey" | "ctrlKey" | "metaKey"> & {
  getModifierState?(name: string): boolean;
};

/** Keys without text, and what they have in place of a number and `u`. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ArrowUp: "A", ArrowDown: "B", ArrowRight: "C", ArrowLeft: "D", Home: "H", End: "F", F1: "P", F2: "Q", F4: "S" },
};
const TILDES: Readonly<Record<string, number>> = {
  ...{ Insert: 2, Delete: 3, PageUp: 5, PageDown: 6, F3: 13, F5: 15, F6: 17, F7: 18, F8: 19, F9: 20, F10: 21, F11: 23 },
  F12: 24,
};
const numbered = (first: number, names: string): Record<string, number> =>
  Object.fromEntries(names.split(" ").map((name, index) => [name, first + index]));
/** Keys by what they do, keys of the keypad by their place. */
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ Escape: 27, Enter: 13, Tab: 9, Backspace: 127 },
  ...numbered(57358, "CapsLock ScrollLock NumLock PrintScreen Pause ContextMenu"),
  ...numbered(57376, Array.from({ length: 23 }, (_, index) => `F${13 + index}`).join(" ")),
  ...numbered(57428, "MediaPlay MediaPause MediaPlayPause MediaReverse MediaStop MediaFastForward MediaRewind"),
  ...numbered(57435, "MediaTrackNext MediaTrackPrevious MediaRecord AudioVolumeDown AudioVolumeUp AudioVolumeMute"),
};
const KEYPAD: Readonly<Record<string, number>> = {
  ...numbered(57399, "0 1 2 3 4 5 6 7 8 9 Decimal Divide Multiply Subtract Add Enter Equal Comma"),
  ...numbered(57417, "ArrowLeft ArrowRight ArrowUp ArrowDown PageUp PageDown Home End Insert Delete"),
};
/** By their place, as left and right differ. */
const MODIFIERS: Readonly<Record<string, number>> = {
  ...{ ShiftLeft: 57441, ControlLeft: 57442, AltLeft: 57443, MetaLeft: 57444 },
  ...{ ShiftRight: 57447, ControlRight: 57448, AltRight: 57449, MetaRight: 57450 },
};
const ISO_LEVEL3_SHIFT = 57453;
const LOCKS: ReadonlySet<string> = new Set(["CapsLock", "ScrollLock", "NumLock"]);
/** In the shell of a program that ended without its `CSI < u`, a person must be able to type `reset`. */
const LEGACY: Readonly<Record<string, string>> = { Enter: "\r", Tab: "\t", Backspace: "\x7f" };
/** The places of a PC's keys, with what a layout of the United States has there: without Shift, with it. */
const PLACES: Readonly<Record<string, string>> = {
  ...{ Backquote: "`~", Minus: "-_", Equal: "=+", BracketLeft: "[{", BracketRight: "]}", Backslash: "\\|" },
  ...{ Semicolon: ";:", Quote: "'\"", Comma: ",<", Period: ".>", Slash: "/?", Space: "  " },
  ...Object.fromEntries([...")!@#$%^&*("].map((shifted, digit) => [`Digit${digit}`, `${digit}${shifted}`])),
  ...Object.fromEntries(
    [..."abcdefghijklmnopqrstuvwxyz"].map((key) => [`Key${key.toUpperCase()}`, key + key.toUpperCase()]),
  ),
};

/**
 * @param flags With {@link DISAMBIGUATE} or {@link ALL_KEYS}, or for a key that is repeated or released. Else keys are as ever.
 * @param type 1: pressed; 2: repeated; 3: released.
 * @param isAltMeta Whether Alt is a modifier where the system makes other characters with it, as Option on a Mac.
 * @returns The text to send; "" for none; undefined for a key that has no place in the protocol.
 */
export function encodeKey(key: Key, flags: number, type: number, isAltMeta = false): string | undefined {
  const isAll = (flags & ALL_KEYS) !== 0;
  if (type === RELEASE && (flags & EVENT_TYPES) === 0) return "";
  const modifier = key.key === "AltGraph" ? ISO_LEVEL3_SHIFT : MODIFIERS[key.code];
  if ((modifier !== undefined || LOCKS.has(key.key)) && !isAll) return "";
  const hasKeypad = (flags & (DISAMBIGUATE | ALL_KEYS)) !== 0 && key.code.startsWith("Numpad");
  const keypad = hasKeypad ? keypadNumber(key) : undefined;
  const modifiers = modifiersOf(key);
  const isBare = (modifiers & ~(CAPS_LOCK | NUM_LOCK)) === 0;
  const legacy = LEGACY[key.key];
  if (legacy !== undefined && isBare && !isAll && keypad === undefined) return type === RELEASE ? "" : legacy;
  const event = (flags & EVENT_TYPES) !== 0 && type !== PRESS ? `:${type}` : "";
  const second = modifiers === 0 && event === "" ? "" : `;${modifiers + 1}${event}`;
  if (modifier !== undefined) return `\x1b[${modifier}${second}u`;
  const text = textOf(key, isAltMeta);
  if (text !== "" && !isAll && type !== RELEASE) return text;
  const third = isAll && (flags & TEXT) !== 0 && text !== "" && type !== RELEASE ? `;${text.codePointAt(0)}` : "";
  const tail = third === "" ? second : `${second || ";"}${third}`;
  if (key.code === "Numpad5" && key.key === "Clear") return `\x1b[${second === "" ? "" : `1${second}`}E`;
  if (keypad !== undefined) return `\x1b[${keypad}${tail}u`;
  const letter = LETTERS[key.key];
  if (letter !== undefined) return `\x1b[${second === "" ? "" : `1${second}`}${letter}`;
  if (TILDES[key.key] !== undefined) return `\x1b[${TILDES[key.key]}${second}~`;
  const number = NUMBERS[key.key];
  if (number !== undefined) return `\x1b[${number}${second}u`;
  const codes = codesOf(key, isAltMeta, (flags & ALTERNATE_KEYS) !== 0);
  return codes === undefined ? undefined : `\x1b[${codes}${tail}u`;
}

/** Num Lock decides whether it is a digit or a key that moves. */
function keypadNumber({ key, code }: Key): number | undefined {
  return KEYPAD[key] !== undefined && key.length > 1 ? KEYPAD[key] : KEYPAD[code.slice("Numpad".length)];
}

function modifiersOf(event: Key): number {
  const isLocked = (name: string) => event.getModifierState?.(name) === true;
  return (
    (event.shiftKey ? SHIFT : 0) |
    (event.altKey ? ALT : 0) |
    (event.ctrlKey ? CTRL : 0) |
    (event.metaKey ? SUPER : 0) |
    (isLocked("CapsLock") ? CAPS_LOCK : 0) |
    (isLocked("NumLock") ? NUM_LOCK : 0)
  );
}

/** "" for a key that types nothing by itself. */
function textOf({ key, altKey, ctrlKey, metaKey }: Key, isAltMeta: boolean): string {
  if (ctrlKey || metaKey || (altKey && isAltMeta)) return "";
  return !altKey && [...key].length === 1 ? key : "";
}

/** The key without Shift and, with alternates, with it, and that of the same place on a layout of the United States. */
function codesOf({ key, code, shiftKey, altKey }: Key, isAltMeta: boolean, hasAlternates: boolean): string | undefined {
  const [plain = "", upper = ""] = PLACES[code] ?? "";
  // What Option made of it tells nothing about the key.
  const typed = altKey && isAltMeta && plain !== "" ? (shiftKey ? upper : plain) : key;
  if ([...typed].length !== 1) return undefined;
  const lower = typed.toLowerCase();
  const isLetter = [...lower].length === 1 && lower !== typed.toUpperCase();
  const unshifted = isLetter ? lower : shiftKey && typed === upper ? plain : typed;
  const shifted = isLetter ? lower.toUpperCase() : typed;
  const number = unshifted.codePointAt(0);
  if (!hasAlternates) return `${number}`;
  const second = shiftKey && shifted !== unshifted ? shifted.codePointAt(0) : "";
  const base = plain !== "" && plain !== unshifted ? `:${plain.codePointAt(0)}` : "";
  return `${number}${second === "" && base === "" ? "" : `:${second}`}${base}`;
}
