// W1: keys by name and pasted text, as bytes. The table was recorded from tmux 3.3a (`tmux send-keys NAME` into a program that
// had switched its terminal to raw), in both cursor and keypad modes.

import { describe, expect, test } from "vitest";
import type { InputModes } from "../../src/programs/index.ts";
import { encodeKeys, encodePaste } from "../../src/programs/keys.ts";

const NORMAL: InputModes = {
  ...{ applicationCursor: false, applicationKeypad: false, newLine: false, bracketedPaste: false },
};
const APPLICATION: InputModes = { ...NORMAL, applicationCursor: true, applicationKeypad: true };

/** The same in both modes. */
const TMUX: Record<string, string> = {
  ...{ "C-c": "\x03", "C-a": "\x01", "C-z": "\x1a", "C-Space": "\0", "C-@": "\0", "C-[": "\x1b", "C-\\": "\x1c" },
  ...{ "C-]": "\x1d", "C-^": "\x1e", "C-_": "\x1f", "C-?": "\x7f", "C-/": "\x1f", "C--": "\x1f", "C-2": "\0" },
  ...{ "M-x": "\x1bx", "M-X": "\x1bX", "C-M-x": "\x1b\x18", "C-M-c": "\x1b\x03", "^C": "\x03", é: "é", 日: "日" },
  ...{ "🦊": "🦊", a: "a", Z: "Z", "7": "7", "M-é": "\x1bé", Enter: "\r", Escape: "\x1b", Space: " ", BSpace: "\x7f" },
  ...{ Tab: "\t", BTab: "\x1b[Z", "M-Tab": "\x1b\t", "M-Enter": "\x1b\r", "M-BSpace": "\x1b\x7f" },
  ...{ "M-Escape": "\x1b\x1b", "M-Space": "\x1b ", "C-M-Space": "\x1b\0", "S-Up": "\x1b[1;2A", "M-Up": "\x1b[1;3A" },
  ...{ "C-Left": "\x1b[1;5D", "C-S-Right": "\x1b[1;6C", "C-M-S-Down": "\x1b[1;8B", "S-Home": "\x1b[1;2H" },
  ...{ "C-End": "\x1b[1;5F", PPage: "\x1b[5~", PageUp: "\x1b[5~", PgUp: "\x1b[5~", NPage: "\x1b[6~" },
  ...{ PageDown: "\x1b[6~", PgDn: "\x1b[6~", "S-PPage": "\x1b[5;2~", IC: "\x1b[2~", Insert: "\x1b[2~" },
  ...{ DC: "\x1b[3~", Delete: "\x1b[3~", "C-DC": "\x1b[3;5~", "M-IC": "\x1b[2;3~", F1: "\x1bOP", F2: "\x1bOQ" },
  ...{ F3: "\x1bOR", F4: "\x1bOS", F5: "\x1b[15~", F6: "\x1b[17~", F7: "\x1b[18~", F8: "\x1b[19~", F9: "\x1b[20~" },
  ...{ F10: "\x1b[21~", F11: "\x1b[23~", F12: "\x1b[24~", "S-F1": "\x1b[1;2P", "C-F5": "\x1b[15;5~" },
  ...{ "M-F12": "\x1b[24;3~", "C-S-F4": "\x1b[1;6S", ENTER: "\r", "c-up": "\x1b[1;5A" },
};
/** Normal mode, application mode. */
const TMUX_BY_MODE: Record<string, [string, string]> = {
  ...{ Up: ["\x1b[A", "\x1bOA"], Down: ["\x1b[B", "\x1bOB"], Left: ["\x1b[D", "\x1bOD"] },
  ...{ Right: ["\x1b[C", "\x1bOC"], "KP/": ["/", "\x1bOo"], "KP*": ["*", "\x1bOj"], "KP-": ["-", "\x1bOm"] },
  ...{ "KP+": ["+", "\x1bOk"], "KP.": [".", "\x1bOn"], KP0: ["0", "\x1bOp"], KP1: ["1", "\x1bOq"] },
  ...{ KP2: ["2", "\x1bOr"], KP3: ["3", "\x1bOs"], KP4: ["4", "\x1bOt"], KP5: ["5", "\x1bOu"], KP6: ["6", "\x1bOv"] },
  ...{ KP7: ["7", "\x1bOw"], KP8: ["8", "\x1bOx"], KP9: ["9", "\x1bOy"], "M-KP5": ["\x1b5", "\x1b\x1bOu"] },
};
/** What xterm sends and tmux does not: it has its own Home and End, and nothing for the rest. */
const XTERM: Record<string, [string, string]> = {
  ...{ Home: ["\x1b[H", "\x1bOH"], End: ["\x1b[F", "\x1bOF"], KPEnter: ["\r", "\x1bOM"] },
  ...{ "S-Tab": ["\x1b[Z", "\x1b[Z"], "C-BSpace": ["\b", "\b"], "S-Enter": ["\r", "\r"], "C-Enter": ["\r", "\r"] },
  ...{ "C-Tab": ["\t", "\t"] },
};

const sent = (keys: string[], modes: InputModes) => {
  const result = encodeKeys(keys, modes);
  return result.ok ? result.text : result;
};

describe("W1: keys", () => {
  test("each name is sent as tmux sends it, in both modes", () => {
    for (const [name, text] of Object.entries({ ...TMUX, ...TMUX_BY_MODE, ...XTERM })) {
      const [normal, application] = typeof text === "string" ? [text, text] : text;
      expect([name, sent([name], NORMAL), sent([name], APPLICATION)]).toEqual([name, normal, application]);
    }
  });

  test("keys are sent one after the other, and Enter as the terminal's mode wants it", () => {
    expect(sent(["l", "s", "Enter", "C-c"], NORMAL)).toBe("ls\r\x03");
    expect(sent(["Enter", "KPEnter", "M-Enter"], { ...NORMAL, newLine: true })).toBe("\r\n\r\n\x1b\r\n");
  });

  test("a name that no key has is refused, and named", () => {
    for (const name of ["Entr", "", "C-", "X-a", "F13", "C-é", "C-1", "S-a", "ls", "\n", "\x1b", "\ud800"]) {
      const message = `unknown key ${JSON.stringify(name)}`;
      expect(sent(["a", name, "b"], NORMAL)).toEqual({ ok: false, code: "bad_key", message });
    }
  });
});

describe("W1: paste", () => {
  test("bracketed where the program has asked for that; line ends are what Enter sends", () => {
    expect(encodePaste("a\r\nb\n\tc", { ...NORMAL, bracketedPaste: true })).toEqual({
      ok: true,
      text: "\x1b[200~a\rb\r\tc\x1b[201~",
    });
    expect(encodePaste("ü\r", NORMAL)).toEqual({ ok: true, text: "ü\r" });
  });

  test("control characters are refused, also those that would end the brackets", () => {
    for (const [text, name] of [
      ["a\x1b[201~rm", "U+001B"],
      ["\x03", "U+0003"],
      ["\x7f", "U+007F"],
      ["\u009b201~", "U+009B"],
    ]) {
      expect(encodePaste(text ?? "", { ...NORMAL, bracketedPaste: true })).toEqual({
        ok: false,
        code: "bad_paste",
        message: `a paste may not contain control character ${name}`,
      });
    }
  });
});
