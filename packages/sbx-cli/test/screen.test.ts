// What of a PTY's output reaches the terminal, and what is switched off when the terminal is given back.

import { describe, expect, test } from "vitest";
import { Screen } from "../src/screen.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString("latin1");

/** Draws all chunks; answers what was drawn and the offset that was reached. */
function draw(mayAnswer: (offset: number) => boolean, ...chunks: string[]): { drawn: string; end: number } {
  const screen = new Screen(mayAnswer);
  let drawn = "";
  let offset = 0;
  let end = 0;
  for (const chunk of chunks) {
    const drawing = screen.draw(bytes(chunk), offset);
    drawn += text(drawing.parts);
    offset += chunk.length;
    end = drawing.end;
  }
  return { drawn, end };
}

const never = () => false;
const always = () => true;

const QUERIES: Record<string, string> = {
  "primary device attributes": "\x1b[c",
  "primary device attributes with 0": "\x1b[0c",
  "secondary device attributes": "\x1b[>c",
  "tertiary device attributes": "\x1b[=c",
  "the obsolete identification": "\x1bZ",
  "device status": "\x1b[5n",
  "cursor position": "\x1b[6n",
  "extended cursor position": "\x1b[?6n",
  "a mode": "\x1b[4$p",
  "a private mode": "\x1b[?2026$p",
  "name and version": "\x1b[>q",
  "keyboard protocol": "\x1b[?u",
  "terminal parameters": "\x1b[x",
  "size in cells": "\x1b[18t",
  "size in pixels": "\x1b[14t",
  title: "\x1b[21t",
  foreground: "\x1b]10;?\x07",
  background: "\x1b]11;?\x1b\\",
  "palette entry": "\x1b]4;1;?\x07",
  clipboard: "\x1b]52;c;?\x07",
  "a setting": "\x1bP$qm\x1b\\",
  "a capability": "\x1bP+q544e\x1b\\",
  "kitty's graphics": "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
  answerback: "\x05",
};

const OTHERS: Record<string, string> = {
  "plain text": "hello, w\xf6rld\r\n\t\b\x07",
  colours: "\x1b[1;38;5;200mred\x1b[m\x1b[38:2::1:2:3m",
  "cursor movement": "\x1b[H\x1b[2;3f\x1b[10A\x1b[3G",
  "cursor style": "\x1b[4 q",
  "saving a title": "\x1b[22;0;0t\x1b[23;0;0t",
  "setting a title": "\x1b]0;what?\x07\x1b]2;is this\x1b\\",
  "a link": "\x1b]8;;https://h/?q=1\x1b\\x\x1b]8;;\x1b\\",
  "setting colours": "\x1b]10;#ffffff\x07\x1b]104\x07",
  "setting the clipboard": "\x1b]52;c;aGk=\x07",
  "character sets": "\x1b(0\x1b)B\x0e\x0f",
  "a picture": "\x1bPq#0;2;0;0;0~~\x1b\\",
  modes: "\x1b[?1049h\x1b[?25l\x1b[4h\x1b[?1;2h",
  "a sequence with a control character in its middle": "\x1b[1\n2H",
  "a broken sequence": "\x1b[1\x18x\x1b[2\x1b[3m\x1b]0;a\x1b[m",
  "a sequence of high bytes": "\x1b\xffx\x1b[\xff",
};

describe("queries", () => {
  for (const [name, query] of Object.entries(QUERIES)) {
    test(`${name}: left out where another answers, drawn where this terminal does`, () => {
      expect(draw(never, `a${query}b`)).toEqual({ drawn: "ab", end: query.length + 2 });
      expect(draw(always, `a${query}b`)).toEqual({ drawn: `a${query}b`, end: query.length + 2 });
    });

    test(`${name}: left out wherever a chunk ends`, () => {
      for (let cut = 1; cut < query.length; cut += 1) {
        expect(draw(never, `a${query.slice(0, cut)}`, `${query.slice(cut)}b`)).toEqual({
          drawn: "ab",
          end: query.length + 2,
        });
      }
    });
  }

  test("the last byte of a query decides who answers it", () => {
    const asked: number[] = [];
    draw(
      (offset) => {
        asked.push(offset);
        return true;
      },
      "ab\x1b[",
      "c\x05",
    );
    expect(asked).toEqual([4, 5]);
  });
});

describe("everything else is drawn byte for byte", () => {
  for (const [name, output] of Object.entries(OTHERS)) {
    test(name, () => {
      for (let cut = 0; cut <= output.length; cut += 1) {
        const { drawn } = draw(never, output.slice(0, cut), `${output.slice(cut)}\x1b[m.`);
        expect(drawn).toBe(`${output}\x1b[m.`);
      }
    });
  }

  test("random bytes in random chunks lose nothing but queries", () => {
    const seed = 7;
    let state = seed;
    const random = (n: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * n);
    };
    // No letter or digit that ends or begins a query: whatever comes out must be all that went in.
    const alphabet = "\x1b[]P_\\;?\x07\x18AHm0 \n\xe4";
    for (let round = 0; round < 300; round += 1) {
      const input = Array.from({ length: 200 }, () => alphabet[random(alphabet.length)]).join("");
      const screen = new Screen(always);
      let drawn = "";
      for (let at = 0; at < input.length; ) {
        const length = 1 + random(20);
        drawn += text(screen.draw(bytes(input.slice(at, at + length)), at).parts);
        at += length;
      }
      expect(drawn + text([screen.flush()]), `seed ${seed}, round ${round}`).toBe(input);
    }
  });
});

describe("an unfinished sequence", () => {
  test("is held back, and does not count as drawn", () => {
    expect(draw(never, "ab\x1b[1")).toEqual({ drawn: "ab", end: 2 });
  });

  test("is let through where it is too long, and ends where it ends", () => {
    const picture = `\x1bPq${"~".repeat(10_000)}`;
    const screen = new Screen(never);
    expect(text(screen.draw(bytes(picture), 0).parts)).toBe(picture);
    expect(screen.isBetweenSequences).toBe(false);
    expect(text(screen.draw(bytes("~\x1b"), 10_003).parts)).toBe("~");
    expect(text(screen.draw(bytes("\\\x1b[cx"), 10_005).parts)).toBe("\x1b\\x");
    expect(screen.isBetweenSequences).toBe(true);
  });

  test("is forgotten by a snapshot, which asks nothing and holds nothing back", () => {
    const screen = new Screen(always);
    screen.draw(bytes("a\x1b[1"), 0);
    const drawing = screen.redraw(bytes("\x1b[2J\x1b[6nscreen\x1b["), 100);
    expect([text(drawing.parts), drawing.end]).toEqual(["\x1b[2Jscreen\x1b[", 100]);
  });
});

describe("giving the terminal back", () => {
  const table: [string, string, string][] = [
    ["an untouched terminal is left untouched", "plain \x1b[1;31mred\x1b[0m\r\n", ""],
    [
      "what was switched off again needs nothing",
      "\x1b[?1049h\x1b[?25l\x1b[?1006h\x1b[?1006;25l\x1b[?25h\x1b[?1049l",
      "",
    ],
    ["bracketed paste", "\x1b[?2004h", "\x1b[?2004l"],
    ["mouse and focus", "\x1b[?1002;1006;1004h", "\x1b[?1002l\x1b[?1006l\x1b[?1004l"],
    ["a hidden cursor", "\x1b[?25l", "\x1b[?25h"],
    ["no wrapping", "\x1b[?7l", "\x1b[?7h"],
    ["application keys", "\x1b[?1h\x1b=", "\x1b[?1l\x1b[?66l"],
    [
      "the alternate screen, after all else",
      "\x1b[?1049h\x1b[?1000h\x1b[2;5r",
      "\x1b[?1000l\x1b7\x1b[r\x1b8\x1b[?1049l",
    ],
    ["colours, charset, insertion and cursor style", "\x1b[7m\x1b(0\x1b[4h\x1b[5 q", "\x1b[4l\x0f\x1b(B\x1b[m\x1b[0 q"],
    ["keyboard protocols", "\x1b[>1u\x1b[>5u\x1b[<u\x1b[>4;2m", "\x1b[<1u\x1b[>4m"],
    ["a full reset switches everything off", "\x1b[?1049h\x1b[?2004h\x1b[7m\x1bc", ""],
  ];
  for (const [what, output, reset] of table) {
    test(what, () => {
      const screen = new Screen(always);
      screen.draw(bytes(output), 0);
      expect(screen.modes.resetSequence()).toBe(reset);
    });
  }
});
