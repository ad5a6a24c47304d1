// What of a PTY's output reaches the terminal, and what is switched off when the terminal is given back.

import { describe, expect, test } from "vitest";
import { OTHERS, QUERIES } from "../../../sandbox-stdio/test/support/query-samples.ts";
import { TerminalOutput } from "../../src/base/terminal-output.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString("latin1");

/** Draws all chunks; answers what was drawn and the offset that was reached. */
function draw(mayAnswer: (offset: number) => boolean, ...chunks: string[]): { drawn: string; end: number } {
  const screen = new TerminalOutput(mayAnswer);
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

describe("queries", () => {
  for (const [name, query] of Object.entries(QUERIES)) {
    test(`${name}: left out where another answers, drawn where this terminal does`, () => {
      expect(draw(never, `a${query}b`)).toEqual({ drawn: "ab", end: query.length + 2 });
      expect(draw(always, `a${query}b`)).toEqual({ drawn: `a${query}b`, end: query.length + 2 });
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

describe("K6b: a file transfer by ZMODEM", () => {
  const start = "**\x18B00000000000000\r\x8a\x11";
  const answer = bytes("**\x18B0100000023be50\r\x8a\x11");
  const block = "\x05\x1b[c\x18E\xc2\x9bc\x0e\x1b[6n\x18";
  const fin = "**\x18B0800000000022d\r\x8a";

  /** One that was offered a file, and has answered. */
  function answered(): TerminalOutput {
    const output = new TerminalOutput(never);
    output.draw(bytes(`rz\r${start}`), 0);
    output.typed(answer);
    return output;
  }

  test.each([1, 2, 3, 7, 1_000])(
    "passes byte for byte once this terminal has answered, cut after every %i bytes, and queries around it do not",
    (size) => {
      const cut = (text: string) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const screen = new TerminalOutput(never);
      const drawn = (sent: string) => cut(sent).map((chunk) => text(screen.draw(bytes(chunk), 0).parts));
      expect(drawn(`\x1b[c$ sz f\r\nrz\r${start}`).join("")).toBe(`$ sz f\r\nrz\r${start}`);
      screen.typed(answer);
      expect(drawn(`${block}${fin}OO\x1b[c$ \x05`).join("")).toBe(`${block}${fin}OO$ `);
    },
  );

  test("a program alone begins none: its queries and its counts are dealt with, and keys stay keys", () => {
    const screen = new TerminalOutput(never, () => ({ cols: 80, rows: 24 }));
    expect(text(screen.draw(bytes(`${start}\x1b[c\x1b[999999999S`), 0).parts)).toBe(`${start}\x1b[24S`);
    screen.typed(bytes("ls\r"));
    expect([screen.isTransfer, text(screen.draw(bytes("\x05"), 0).parts)]).toEqual([false, ""]);
  });

  test("ends where its person may type no more", () => {
    const output = answered();
    output.endTransfer();
    expect([output.isTransfer, text(output.draw(bytes("a\x05"), 0).parts)]).toEqual([false, "a"]);
  });

  test("is no place for a line of our own, and switches no mode on", () => {
    const output = answered();
    output.draw(bytes("\x1b[?1049h\x0e"), 0);
    expect([output.isTransfer, output.isBetweenSequences, output.resetSequence]).toEqual([true, false, ""]);
    output.draw(bytes(fin), 100);
    expect([output.isTransfer, output.isBetweenSequences]).toEqual([false, true]);
  });

  test("that was replayed is over: what follows is a terminal's", () => {
    const output = new TerminalOutput(never);
    expect(text(output.draw(bytes(`${start}\x05`), 0, start.length + 1).parts)).toBe(start);
    output.typed(answer);
    expect([output.isTransfer, text(output.draw(bytes("\x05"), 100).parts)]).toEqual([false, ""]);
  });
});

test("everything else is drawn byte for byte", () => {
  for (const output of Object.values(OTHERS)) expect(draw(never, `${output}\x1b[m.`).drawn).toBe(`${output}\x1b[m.`);
});

describe("an unfinished sequence", () => {
  test("is held back, and does not count as drawn", () => {
    expect(draw(never, "ab\x1b[1")).toEqual({ drawn: "ab", end: 2 });
  });

  test("is let through where it is too long, and ends where it ends", () => {
    const picture = `\x1bPq${"~".repeat(10_000)}`;
    const screen = new TerminalOutput(never);
    expect(text(screen.draw(bytes(picture), 0).parts)).toBe(picture);
    expect(screen.isBetweenSequences).toBe(false);
    expect(text(screen.draw(bytes("~\x1b"), 10_003).parts)).toBe("~");
    expect(text(screen.draw(bytes("\\\x1b[cx"), 10_005).parts)).toBe("\x1b\\x");
    expect(screen.isBetweenSequences).toBe(true);
  });

  test("is forgotten by a snapshot, which asks nothing and holds nothing back", () => {
    const screen = new TerminalOutput(always);
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
    ["application keys", "\x1b[?1h\x1b=", "\x1b[?1l\x1b>"],
    [
      "the alternate screen, after all else",
      "\x1b[?1049h\x1b[?1000h\x1b[2;5r",
      "\x1b[?1000l\x1b[?1049l\x1b7\x1b[r\x1b8",
    ],
    ["colours, charset, insertion and cursor style", "\x1b[7m\x1b(0\x1b[4h\x1b[5 q", "\x1b[4l\x0f\x1b(B\x1b[m\x1b[0 q"],
    ["keyboard protocols", "\x1b[>1u\x1b[>5u\x1b[<u\x1b[>4;2m", "\x1b[<1u\x1b[>4m"],
    ["kitty's flags, set without a push (fish 4)", "\x1b[=5u", "\x1b[=0u"],
    [
      "kitty's flags of each screen, on that screen",
      "\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[>4u",
      "\x1b[<2u\x1b[?1049l\x1b[<1u",
    ],
    ["kitty's flags on a screen that was left", "\x1b[?1049h\x1b[=8u\x1b[?1049l", "\x1b[?1049h\x1b[=0u\x1b[?1049l"],
    ["a soft reset makes nothing forgotten", "\x1b[?1049h\x1b[?1003h\x1b[!p", "\x1b[?1003l\x1b[?1049l"],
    [
      "colours, one by one where they have an index",
      "\x1b]4;1;red;7;?;9;#fff\x07\x1b]11;blue\x07\x1b]12;?\x07\x1b]10;red;;pink\x07\x1b]110\x07",
      "\x1b]104;1;9\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\",
    ],
    ["all of a palette that is too long to be held", `\x1b]4;${"1;red;".repeat(900)}\x07`, "\x1b]104\x1b\\"],
    ["an open link, and none that was closed", "\x1b]8;;http://a\x1b\\\x1b[1ma", "\x1b]8;;\x1b\\\x1b[m"],
    ["no link", "\x1b]8;id=1;http://a\x07\x1b]8;;\x07", ""],
    [
      "kitty's colours, the pointer and progress",
      "\x1b]21;cursor=red;x=?\x07\x1b]22;hand\x07\x1b]9;4;1;5\x07",
      "\x1b]21;cursor=\x1b\\\x1b]22;\x1b\\\x1b]9;4;0\x1b\\",
    ],
    [
      "margins at the sides, other modes, and none that terminals differ in",
      "\x1b[?69;2031;9001;5522;1034h",
      "\x1b[?69l\x1b[?2031l\x1b[?9001l\x1b[?5522l",
    ],
    ["newlines, a locked keyboard, local echo", "\x1b[20;2h\x1b[12l", "\x1b[20l\x1b[2l\x1b[12h"],
    ["rows that count from the margin", "\x1b[?6h", "\x1b[?6l\x1b[9999H"],
    ["sets of characters that a shift brings", "\x1b)0\x0e", "\x0f\x1b)B"],
    ["a pen that was saved with the cursor", "\x1b[7m\x1b7\x1b[m\x1b8", "\x1b[m"],
    ["a printer, a status line, a locator", "\x1b[5i\x1b[1$}\x1b[1'z", "\x1b[4i\x1b[0$}\x1b[0'z"],
    ["tab stops", "\x1b[3g", `\x1b7\r\x1b[3g${"\x1b[8C\x1bH".repeat(4)}\x1b8`],
    ["a full reset switches everything off", "\x1b[?1049h\x1b[?2004h\x1b[7m\x1bc", ""],
  ];
  for (const [what, output, reset] of table) {
    test(what, () => {
      const screen = new TerminalOutput(always, () => ({ cols: 40, rows: 10 }));
      screen.draw(bytes(output), 0);
      expect(screen.resetSequence).toBe(reset);
    });
  }
});

describe("K6c: a replay draws, and does no more", () => {
  const size = () => ({ cols: 20, rows: 3 });

  test("it rings, copies, notifies, prints and moves nothing, and what comes after it does", () => {
    const screen = new TerminalOutput(always, size);
    const output =
      "a\x07\x1b]52;c;aGk=\x07\x1b]9;hi\x1b\\\x1b]777;notify;a;b\x07\x1b[8;9;9t\x1b[5i\x1b]1337;StealFocus\x07b";
    expect(text(screen.draw(bytes(output), 0, output.length).parts)).toBe("ab");
    expect(text(screen.draw(bytes(output), output.length, output.length).parts)).toBe(output);
  });

  test("a picture of the screen, and a reset that is replayed, take nothing of what the person had there", () => {
    const over = "\x1b[3H\n\n\n\x1b[H";
    const screen = new TerminalOutput(always, size);
    expect(text(screen.draw(bytes("\x1b[1mx\x1bc\x1b[3Jy"), 0, 100).parts)).toBe(`\x1b[1mx\x1b[m${over}y`);
    screen.draw(bytes("\x1b[?1049h\x1b[?25l"), 100, 100);
    expect(text(screen.redraw(bytes("\x1bc\x1b[20lz\x07"), 200).parts)).toBe(`\x1b[?25h\x1b[?1049l${over}\x1b[20lz`);
    expect(text(screen.draw(bytes("\x1bc\x1b[3J"), 200, 100).parts)).toBe("\x1bc\x1b[3J");
  });
});

describe("K10: a program that was killed", () => {
  const [start, end] = ["\x1b]133;C\x07", "\x1b]133;D;137\x07"];

  test("has what it left on undone before the prompt, and said; what was on before it stays", () => {
    const screen = new TerminalOutput(always);
    const output = `\x1b[?2004l\x1b[?1h${start}\x1b[?1000;1006;1004h\x1b[?25l\x1b[?1049h\x1b(0${end}\x1b]133;A\x1b\\$ `;
    const undo = "\x1b[?1000l\x1b[?1006l\x1b[?1004l\x1b[?1049l\x1b[?25h\x0f\x1b(B";
    expect(text(screen.draw(bytes(output), 0).parts)).toBe(output.replace(end, end + undo));
    expect(screen.takeLeftOn()).toEqual(["mouse", "reports", "screen", "cursor", "characters"]);
    expect([screen.takeLeftOn(), screen.resetSequence]).toEqual([[], "\x1b[?1l"]);
  });

  test("also where its mark ends with ESC \\ and comes in pieces; once, and for no program that has cleaned up", () => {
    const screen = new TerminalOutput(always);
    const drawn = [..."\x1b[?1003h\x1b]133;D\x1b\\\x1b]133;D\x07"].map((one) => text(screen.draw(bytes(one), 0).parts));
    expect(drawn.join("")).toBe("\x1b[?1003h\x1b]133;D\x1b\\\x1b[?1003l\x1b]133;D\x07");
    const tidy = `${start}\x1b[?1003h\x1b[?1003l${end}`;
    expect(text(screen.draw(bytes(tidy), 0).parts)).toBe(tidy);
  });
});
