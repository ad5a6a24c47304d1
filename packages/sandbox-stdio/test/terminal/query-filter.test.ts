// K5: queries are taken out, and nothing else, wherever the output is cut.

import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QueryFilter, withinScreen } from "../../src/index.ts";
import { OTHERS, QUERIES } from "../support/query-samples.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString("latin1");
const never = () => false;
const always = () => true;

/** Filters pieces one after the other, to the end. */
function filter(mayAnswer: (at: number) => boolean, pieces: readonly string[]): string {
  const filter = new QueryFilter(mayAnswer);
  let out = "";
  let offset = 0;
  for (const piece of pieces) {
    out += text(filter.filter(bytes(piece), offset));
    offset += piece.length;
  }
  return out + text([filter.flush()]);
}

describe("queries", () => {
  for (const [name, query] of Object.entries(QUERIES)) {
    test(`${name}: left out where another answers, kept where this one does, wherever it is cut`, () => {
      for (let cut = 0; cut <= query.length; cut += 1) {
        const pieces = [`a${query.slice(0, cut)}`, `${query.slice(cut)}b`];
        expect(filter(never, pieces)).toBe("ab");
        expect(filter(always, pieces)).toBe(`a${query}b`);
      }
      const single = [...`a${query}b`];
      expect(filter(never, single)).toBe("ab");
      expect(filter(always, single)).toBe(`a${query}b`);
    });
  }

  test("the last byte decides who answers, and of ESC \\ the first", () => {
    const asked: number[] = [];
    const mayAnswer = (at: number) => asked.push(at) > 0;
    filter(mayAnswer, ["ab\x1b[", "c\x05\x1b]11;?\x1b", "\\\x1b]11;?\x07\xc2\x9b", "6n"]);
    expect(asked).toEqual([4, 5, 12, 20, 24]);
  });
});

describe("everything else passes byte for byte", () => {
  for (const [name, output] of Object.entries(OTHERS)) {
    test(name, () => {
      for (let cut = 0; cut <= output.length; cut += 1) {
        expect(filter(never, [output.slice(0, cut), `${output.slice(cut)}\x1b[m.`])).toBe(`${output}\x1b[m.`);
      }
      expect(filter(never, [...`${output}\x1b[m.`])).toBe(`${output}\x1b[m.`);
    });
  }

  test("what is whole is not even copied", () => {
    const filter = new QueryFilter(never);
    for (const piece of ["plain", "\x1b[1mbold\x1b[m", "h\xc3\xa9"]) {
      const chunk = bytes(piece);
      const [part] = filter.filter(chunk, 0);
      expect(part).toBe(chunk);
    }
  });
});

describe("what a query does besides asking stays", () => {
  const table: [string, string, string][] = [
    ["modes that are set beside one that reports", "\x1b[?1000;1004;1006h", "\x1b[?1000;1006h"],
    ["palette entries that are set", "\x1b]4;1;#fff;2;?;3;#000\x07", "\x1b]4;1;#fff;3;#000\x1b\\"],
    ["colours that are set", "\x1b]10;?;#000\x1b\\", "\x1b]10;;#000\x1b\\"],
    ["controls in the middle of it", "\x1b[\n6\rn", "\n\r"],
    ["a picture with an id", "\x1b_Gi=1,a=T;AAAA\x1b\\", "\x1b_Gi=1,a=T,q=2;AAAA\x1b\\"],
    ["a picture with a number, of which failures are told", "\x1b_GI=7,q=1;\x1b\\", "\x1b_GI=7,q=1,q=2;\x1b\\"],
    ["a picture that is shown again", "\x1b_Ga=p,i=1\x1b\\", "\x1b_Ga=p,i=1,q=2\x1b\\"],
    ["a picture that C1 controls enclose", "\xc2\x9fGa=p,i=1\xc2\x9c", "\x1b_Ga=p,i=1,q=2\x1b\\"],
    ["more cursors that are shown", "\x1b[>29;2:4:5 q", "\x1b[>29;2:4:5 q"],
    ["more cursors that are cleared", "\x1b[>0;4 q", "\x1b[>0;4 q"],
    ["a font of mintty's", "\x1b]7770;12\x07", "\x1b]7770;12\x07"],
    ["an answerback in the middle of another sequence", "\x1b[3\x051m", "\x1b[31m"],
  ];
  for (const [name, output, left] of table) {
    test(name, () => {
      for (let cut = 0; cut <= output.length; cut += 1) {
        expect(filter(never, [`a${output.slice(0, cut)}`, `${output.slice(cut)}b`])).toBe(`a${left}b`);
      }
    });
  }
});

describe("an unfinished sequence", () => {
  test("is held back while it can still be a query, and not longer", () => {
    const held = (piece: string) => {
      const filter = new QueryFilter(never);
      filter.filter(bytes(piece), 0);
      return filter.heldBytes;
    };
    for (const piece of ["\x1b", "\x1b[", "\x1b[38;5", "\x1b[?", "\x1b[?2026$", "\x1b]1", "\x1b]11;", "\xc2"]) {
      expect(held(`text${piece}`), JSON.stringify(piece)).toBe(piece.length);
    }
    for (const piece of [
      "\x1b(",
      "\x1b[<",
      "\x1b[4 ",
      "\x1b[1?",
      "\x1b]0;",
      "\x1b]52;c;a",
      "\x1bPq",
      "\x1b_x",
      "\xc3",
    ]) {
      expect(held(`text${piece}`), JSON.stringify(piece)).toBe(0);
    }
  });

  test("comes out at the end", () => {
    const filter = new QueryFilter(never);
    expect(text(filter.filter(bytes("a\x1b[6"), 0))).toBe("a");
    expect(text([filter.flush()])).toBe("\x1b[6");
    expect(text(filter.filter(bytes("n"), 3))).toBe("n");
  });

  test("is let through where it is too long, and broken off where it asks", () => {
    const long = "0".repeat(5000);
    expect(filter(never, [`\x1b[${long}6m.`])).toBe(`\x1b[${long}6m.`);
    expect(filter(never, [`\x1b[${long}6n.`])).toBe(`\x1b[${long}6\x18.`);
    expect(filter(never, [`\x1b]4;1;${long};2;?\x07.`])).toBe(`\x1b]4;1;${long};2;?\x18.`);
    expect(filter(never, [...`\x1b]4;1;${long};2;?\x1b\\.`])).toBe(`\x1b]4;1;${long};2;?\x18.`);
    expect(filter(always, [`\x1b[${long}6n.`])).toBe(`\x1b[${long}6n.`);
    // A device control string acts before its end.
    const keys = `\x1b_G${"i=1,".repeat(80)}a=q;`;
    for (const begun of [`\x1bP${long}1000p`, `\x1bP@kitty-echo|${long}`, `\x1b_Ga=q,i=1;${long}`, keys]) {
      expect(filter(never, [`a${begun}\x1b\\.`])).toBe("a.");
      expect(filter(never, [...`a${begun}\x1b\\.`])).toBe("a.");
      expect(filter(always, [`a${begun}\x1b\\.`])).toBe(`a${begun}\x1b\\.`);
    }
  });
});

describe("in a real emulator", () => {
  /** What xterm.js shows and types when it is given these bytes. */
  async function draw(output: Uint8Array): Promise<{ screen: string; typed: string }> {
    const terminal = new headless.Terminal({ cols: 20, rows: 5, scrollback: 20, allowProposedApi: true });
    const serialize = new SerializeAddon();
    terminal.loadAddon(serialize);
    let typed = "";
    terminal.onData((answer) => {
      typed += answer;
    });
    await new Promise<void>((resolve) => terminal.write(output, resolve));
    const { cursorX, cursorY } = terminal.buffer.active;
    // A mode that reports at once is not set where nothing may be reported.
    const shown = serialize.serialize().replace("\x1b[?1004h", "");
    const screen = `${shown} ${cursorX},${cursorY} ${terminal.buffer.active.type}`;
    terminal.dispose();
    return { screen, typed };
  }

  const ask = fc.constantFrom(...Object.values(QUERIES));
  const other = fc.constantFrom(...Object.values(OTHERS));
  const shred = fc.constantFrom(
    ..."\x1b[]P_^X\\;:?>=$ !'0169\x05\x07\x0a\x0d\x18\x1a\x7fcnpqtuxhmZ\xc2\x90\x9b\x9c\x9d\xe2\x82\xac\xef\xbb\xbf\xff",
    "a",
    "W",
    "\x1b[",
    "\x1b]",
    "\xc2\x9b",
  );
  const output = fc
    .array(fc.oneof({ weight: 2, arbitrary: ask }, { weight: 2, arbitrary: other }, { weight: 6, arbitrary: shred }), {
      maxLength: 40,
    })
    .map((pieces) => pieces.join(""));

  test("filtered output is drawn as the whole is, and nothing is typed, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(output, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), async (raw, lengths) => {
        const pieces: string[] = [];
        for (let at = 0; at < raw.length; ) {
          const length = lengths.next().value ?? 1;
          pieces.push(raw.slice(at, at + length));
          at += length;
        }
        const filtered = filter(never, pieces);
        expect(filter(never, [raw])).toBe(filtered);
        expect(filter(always, pieces)).toBe(raw);
        const drawn = await draw(bytes(filtered));
        expect(drawn.typed).toBe("");
        expect(drawn.screen).toBe((await draw(bytes(raw))).screen);
      }),
      { seed: 5, numRuns: 1500 },
    );
  });
});

describe("counts", () => {
  const size = { cols: 80, rows: 24 };
  const clamp = (pieces: readonly string[]): string => {
    const filter = new QueryFilter(always, { mend: (_, csi) => withinScreen(csi, size) });
    return text([...pieces.flatMap((piece) => [...filter.filter(bytes(piece), 0)]), filter.flush()]);
  };

  test.each([
    ["\x1b[2147483647S", "\x1b[24S"],
    ["\xc2\x9b2147483647T", "\x1b[24T"],
    ["\x1b[00000099999;1b", "\x1b[1920;1b"],
    ["\x1b[100:7I", "\x1b[80:7I"],
    ["\x1b[999 @", "\x1b[80 @"],
    ["\x1b[21474\n83647L", "\x1b[24L\n"],
    // Too long to be held: it is broken off.
    [`\x1b[${"0".repeat(5000)}2147483647M`, `\x1b[${"0".repeat(5000)}2147483647\x18`],
  ])("35: %j draws what the screen can show, wherever it is cut", (sequence, drawn) => {
    const step = sequence.length > 100 ? 499 : 1;
    for (let cut = 0; cut <= sequence.length; cut += step) {
      expect(clamp([`a${sequence.slice(0, cut)}`, `${sequence.slice(cut)}b`])).toBe(`a${drawn}b`);
    }
  });

  test("35: what counts nothing, or not too far, passes byte for byte", () => {
    for (const output of [
      ...Object.values(OTHERS),
      "\x1b[24S",
      "\x1b[1920b",
      "\x1b[?99999h",
      "\x1b[>99999S",
      "\x1b[99999m",
    ]) {
      for (let cut = 0; cut <= output.length; cut += 1) {
        expect(clamp([output.slice(0, cut), `${output.slice(cut)}\x1b[m.`])).toBe(`${output}\x1b[m.`);
      }
    }
  });
});

describe("K6c: of a replay what does more than draw is left out", () => {
  const EFFECTS: readonly (readonly [output: string, drawn: string])[] = [
    ["\x07", ""],
    ["\x1b]52;c;aGk=\x07", ""],
    ["\x1b]52;c;aGk=\x1b\\", ""],
    ["\xc2\x9d052;p;aGk=\xc2\x9c", ""],
    [`\x1b]52;c;${"QUJD".repeat(3_000)}\x07`, ""],
    ["\x1b]52;c;?\x07", ""],
    ["\x1b]9;done\x07", ""],
    ["\x1b]9;4;1;50\x1b\\", ""],
    ["\x1b]777;notify;title;text\x07", ""],
    ["\x1b]99;i=1:d=0;Hello\x1b\\", ""],
    ["\x1b]5522;type=write\x1b\\", ""],
    ["\x1b]1337;Copy=:aGk=\x07", ""],
    ["\x1b]1337;RequestAttention=yes\x1b\\", ""],
    ["\x1b]1337;File=name=eA==;size=2:aGk=\x07", ""],
    ["\x1b[5i", ""],
    ["\x1b[?5i", ""],
    ["\x1b[8;200;200t", ""],
    ["\x1b[48t", ""],
    ["\x1b[132$|", ""],
    ["\x1b[48*|", ""],
    ["\x1b[7;4;1,~", ""],
    ["\x1b[12;2]", ""],
    ['\x1b]51;["call","Tapi_x",[]]\x07', ""],
    ["\x1b]440;a.wav\x07", ""],
    ["\x1b]9001;CmdNotFound;x\x1b\\", ""],
    ["\x1b[1\x07m", "\x1b[1m"],
    // However long its beginning is.
    [`\x1b[${"0".repeat(5_000)}5i`, `\x1b[${"0".repeat(5_000)}5\x18`],
    [`\x1b]${"0".repeat(5_000)}52;c;aGk=\x07`, ""],
    // A multiplexer's envelope: what is in it is dealt with as what it is.
    ["\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\", "\x1bPtmux;\x1b\x1b\\\x1b\\"],
    // What draws, or names, passes.
    ...["\x1b]0;title\x07", "\x1b]8;;http://a\x07", "\x1b]133;A\x07", "\x1b[22;0t", "\x1b]1337;SetMark\x07"].map(
      (output) => [output, output] as const,
    ),
    ["\x1b]1337;File=inline=1;size=2:aGk=\x07", "\x1b]1337;File=inline=1;size=2:aGk=\x07"],
  ];

  test.each(EFFECTS)("%j, wherever it is cut; live, all of it passes", (output, drawn) => {
    const step = output.length > 100 ? 997 : 1;
    for (let cut = 0; cut <= output.length; cut += step) {
      for (const [end, expected] of [
        [Number.POSITIVE_INFINITY, drawn],
        [0, output],
      ] as const) {
        const filter = new QueryFilter(always, { replayEnd: () => end });
        const pieces = [`a${output.slice(0, cut)}`, `${output.slice(cut)}b\x1b[m`];
        expect(text([...pieces.flatMap((piece) => [...filter.filter(bytes(piece), 0)]), filter.flush()])).toBe(
          `a${expected}b\x1b[m`,
        );
      }
    }
  });

  test("the replay's last byte decides: what ends live has its effect", () => {
    const filter = new QueryFilter(always, { replayEnd: () => 3 });
    expect(text(filter.filter(bytes("a\x07b\x07c"), 0))).toBe("ab\x07c");
    const cut = new QueryFilter(always, { replayEnd: () => 3 });
    expect(text(cut.filter(bytes("\x1b[5i"), 0))).toBe("\x1b[5i");
  });
});
