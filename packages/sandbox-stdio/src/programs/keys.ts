// Encodes keys, by tmux's names, and pasted text for a terminal in its current modes (W1). The bytes are xterm's, as TERM says;
// they differ from tmux's only for Home and End.

import type { InputModes } from "../wire/write-messages.ts";

/** `message` names the key or character; both codes are HTTP 400. */
export type KeysResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: "bad_key" | "bad_paste"; readonly message: string };

const SHIFT = 1;
const META = 2;
const CTRL = 4;
const MODIFIERS: ReadonlyMap<string, number> = new Map([
  ["S", SHIFT],
  ["M", META],
  ["C", CTRL],
]);

type NamedKey =
  /** Text that may change with Ctrl or Shift. */
  | { readonly kind: "text"; readonly text: string; readonly ctrl?: string; readonly shift?: string }
  | { readonly kind: "enter" }
  /** CSI with this final byte, or ESC O in application mode (`always` for F1 to F4). */
  | { readonly kind: "letter"; readonly final: string; readonly always?: boolean }
  /** CSI number ~ */
  | { readonly kind: "tilde"; readonly number: number }
  | { readonly kind: "keypad"; readonly text: string; readonly final: string };

const tilde = (number: number): NamedKey => ({ kind: "tilde", number });
const letter = (final: string, always = false): NamedKey => ({ kind: "letter", final, always });

/** Names in lower case: like tmux, case does not matter. */
const NAMED: ReadonlyMap<string, NamedKey> = new Map<string, NamedKey>([
  ["enter", { kind: "enter" }],
  ["escape", { kind: "text", text: "\x1b" }],
  ["space", { kind: "text", text: " ", ctrl: "\0" }],
  ["tab", { kind: "text", text: "\t", shift: "\x1b[Z" }],
  ["btab", { kind: "text", text: "\x1b[Z" }],
  ["bspace", { kind: "text", text: "\x7f", ctrl: "\b" }],
  ["up", letter("A")],
  ["down", letter("B")],
  ["right", letter("C")],
  ["left", letter("D")],
  ["home", letter("H")],
  ["end", letter("F")],
  ...names(tilde(2), "ic", "insert"),
  ...names(tilde(3), "dc", "delete"),
  ...names(tilde(5), "ppage", "pageup", "pgup"),
  ...names(tilde(6), "npage", "pagedown", "pgdn"),
  ...["P", "Q", "R", "S"].map((final, i): [string, NamedKey] => [`f${i + 1}`, letter(final, true)]),
  ...[15, 17, 18, 19, 20, 21, 23, 24].map((number, i): [string, NamedKey] => [`f${i + 5}`, tilde(number)]),
  ...Object.entries({ "/": "o", "*": "j", "-": "m", "+": "k", ".": "n" }).map(keypad),
  ...[..."pqrstuvwxy"].map((final, digit) => keypad([String(digit), final])),
  ["kpenter", { kind: "keypad", text: "\r", final: "M" }],
]);

/** Ctrl with characters other than letters, as in terminals. */
const CTRL_CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...[..."@[\\]^_"].map((character): [string, string] => [
    character,
    String.fromCharCode(character.charCodeAt(0) & 0x1f),
  ]),
  ["2", "\0"],
  ["?", "\x7f"],
  ["/", "\x1f"],
  ["-", "\x1f"],
]);

/** Encodes a sequence of keys as text to type. */
export function encodeKeys(keys: readonly string[], modes: InputModes): KeysResult {
  let text = "";
  for (const name of keys) {
    const key = encodeKey(name, modes);
    if (key === undefined) return { ok: false, code: "bad_key", message: `unknown key ${JSON.stringify(name)}` };
    text += key;
  }
  return { ok: true, text };
}

/** What the Enter key sends. */
export function encodeEnter(modes: InputModes): string {
  return modes.newLine ? "\r\n" : "\r";
}

/** Pasted text, bracketed if the program has enabled that. Control characters except CR, LF and TAB are refused. */
export function encodePaste(text: string, modes: InputModes): KeysResult {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const isAllowed = character === "\n" || character === "\r" || character === "\t";
    if ((code < 0x20 && !isAllowed) || (code >= 0x7f && code < 0xa0)) {
      const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      return { ok: false, code: "bad_paste", message: `a paste may not contain control character ${name}` };
    }
  }
  // Like terminals, turn a pasted line end into Enter's CR.
  const lines = text.replace(/\r\n|\n/g, "\r");
  return { ok: true, text: modes.bracketedPaste ? `\x1b[200~${lines}\x1b[201~` : lines };
}

function encodeKey(name: string, modes: InputModes): string | undefined {
  const { rest, modifiers } = splitModifiers(name);
  if ([...rest].length === 1) return encodeCharacter(rest, modifiers);
  const key = NAMED.get(rest.toLowerCase());
  if (key === undefined) return undefined;
  const meta = (modifiers & META) === 0 ? "" : "\x1b";
  switch (key.kind) {
    case "text": {
      const isShifted = (modifiers & SHIFT) !== 0 && key.shift !== undefined;
      const isCtrl = (modifiers & CTRL) !== 0 && key.ctrl !== undefined;
      return meta + ((isShifted ? key.shift : isCtrl ? key.ctrl : key.text) ?? "");
    }
    case "enter":
      return meta + encodeEnter(modes);
    case "letter":
      if (modifiers !== 0) return `\x1b[1;${modifiers + 1}${key.final}`;
      return `\x1b${key.always === true || modes.applicationCursor ? "O" : "["}${key.final}`;
    case "tilde":
      return modifiers === 0 ? `\x1b[${key.number}~` : `\x1b[${key.number};${modifiers + 1}~`;
    case "keypad":
      if (modes.applicationKeypad) return `${meta}\x1bO${key.final}`;
      return meta + (key.final === "M" ? encodeEnter(modes) : key.text);
  }
}

function splitModifiers(name: string): { rest: string; modifiers: number } {
  let rest = name;
  let modifiers = 0;
  if (rest.length > 1 && rest.startsWith("^")) {
    modifiers = CTRL;
    rest = rest.slice(1);
  }
  while (rest.length > 2 && rest[1] === "-") {
    const modifier = MODIFIERS.get((rest[0] ?? "").toUpperCase());
    if (modifier === undefined) break;
    modifiers |= modifier;
    rest = rest.slice(2);
  }
  return { rest, modifiers };
}

function encodeCharacter(character: string, modifiers: number): string | undefined {
  const meta = (modifiers & META) === 0 ? "" : "\x1b";
  const code = character.codePointAt(0) ?? 0;
  // Control characters have key names, and Shift with a character is another character.
  if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  if ((modifiers & SHIFT) !== 0) return undefined;
  if ((modifiers & CTRL) === 0) return meta + character;
  if (character === " ") return `${meta}\0`;
  if (/^[a-z]$/i.test(character)) return meta + String.fromCharCode(code & 0x1f);
  const control = CTRL_CHARACTERS.get(character);
  return control === undefined ? undefined : meta + control;
}

function names(key: NamedKey, ...list: readonly string[]): [string, NamedKey][] {
  return list.map((name) => [name, key]);
}

function keypad([text, final]: readonly [string, string]): [string, NamedKey] {
  return [`kp${text}`, { kind: "keypad", text, final }];
}
