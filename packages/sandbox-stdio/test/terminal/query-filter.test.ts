// K5: queries are taken out, and nothing else, wherever the output is cut.

import { SerializeAddon } from "@xterm/addon-serialize";
import headless from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QueryFilter, withinScreen } from "../../src/index.ts";
import { OTHERS, QUERIES } from "../support/query-samples.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString("latin1");
const never = () => new QueryFilter(() => false);
const always = () => new QueryFilter(() => true);

/** Filters pieces one after the other, to the end. */
function filtered(filter: QueryFilter, pieces: readonly string[]): string {
  let out = "";
  let offset = 0;
  for (const piece of pieces) {
    out += text(filter.filter(bytes(piece), offset));
    offset += piece.length;
  }
  return out + text([filter.flush()]);
}

/** Wherever `output` is cut, in two or in single bytes, this is what is left of it. Of a long one some cuts are enough. */
function expectLeft(make: () => QueryFilter, output: string, left: string): void {
  const step = output.length > 200 ? 499 : 1;
  const cuts = [[...`a${output}\x1b[m.`]];
  for (let cut = 0; cut <= output.length; cut += step)
    cuts.push([`a${output.slice(0, cut)}`, `${output.slice(cut)}\x1b[m.`]);
  for (const pieces of cuts) expect(filtered(make(), pieces)).toBe(`a${left}\x1b[m.`);
}

test.each(Object.entries(QUERIES))("%s: left out where another answers, kept where this one does", (_name, query) => {
  expectLeft(never, query, "");
  expectLeft(always, query, query);
});

test("the last byte decides who answers, and of ESC \\ the first", () => {
  const asked: number[] = [];
  const filter = new QueryFilter((at) => asked.push(at) > 0);
  filtered(filter, ["ab\x1b[", "c\x05\x1b]11;?\x1b", "\\\x1b]11;?\x07\xc2\x9b", "6n"]);
  expect(asked).toEqual([4, 5, 12, 20, 24]);
});

test.each(Object.entries(OTHERS))("%s: passes byte for byte", (_name, output) => expectLeft(never, output, output));

test("what is whole is not even copied", () => {
  const filter = never();
  for (const piece of ["plain", "\x1b[1mbold\x1b[m", "h\xc3\xa9"]) {
    const chunk = bytes(piece);
    expect(filter.filter(chunk, 0)[0]).toBe(chunk);
  }
});

test.each([
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
])("of a query stays what it does besides asking: %s", (_what, output, left) => expectLeft(never, output, left));

describe("an unfinished sequence", () => {
  test("is held back while it can still be a query, and not longer", () => {
    const held = (piece: string) => {
      const filter = never();
      filter.filter(bytes(`text${piece}`), 0);
      return filter.heldBytes;
    };
    const open = ["\x1b", "\x1b[", "\x1b[38;5", "\x1b[?", "\x1b[?2026$", "\x1b]1", "\x1b]11;", "\xc2"];
    const none = ["\x1b(", "\x1b[<", "\x1b[4 ", "\x1b[1?", "\x1b]0;", "\x1b]52;c;a", "\x1bPq", "\x1b_x", "\xc3"];
    expect(open.map(held)).toEqual(open.map(({ length }) => length));
    expect(none.map(held)).toEqual(none.map(() => 0));
  });

  test("comes out at the end", () => {
    const filter = never();
    expect(text(filter.filter(bytes("a\x1b[6"), 0))).toBe("a");
    expect(text([filter.flush()])).toBe("\x1b[6");
    expect(text(filter.filter(bytes("n"), 3))).toBe("n");
  });

  test("is let through where it is too long, and broken off where it asks", () => {
    const long = "0".repeat(5000);
    expectLeft(never, `\x1b[${long}6m`, `\x1b[${long}6m`);
    expectLeft(always, `\x1b[${long}6n`, `\x1b[${long}6n`);
    expectLeft(never, `\x1b[${long}6n`, `\x1b[${long}6\x18`);
    for (const end of ["\x07", "\x1b\\"]) expectLeft(never, `\x1b]4;1;${long};2;?${end}`, `\x1b]4;1;${long};2;?\x18`);
    // A device control string acts before its end.
    const keys = `\x1b_G${"i=1,".repeat(80)}a=q;`;
    for (const begun of [`\x1bP${long}1000p`, `\x1bP@kitty-echo|${long}`, `\x1b_Ga=q,i=1;${long}`, keys]) {
      expectLeft(never, `${begun}\x1b\\`, "");
      expectLeft(always, `${begun}\x1b\\`, `${begun}\x1b\\`);
    }
  });
});

describe("in a real emulator", () => {
  /** What xterm.js shows and types when it is given these bytes. */
  async function draw(output: Uint8Array): Promise<{ screen: string; typed: string }> {
    const terminal = new headless.Terminal({
      cols: 20,
      rows: 5,
      scrollback: 20,
      allowProposedApi: true,
      logLevel: "off",
    });
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

  const shred = fc.constantFrom(
    ..."\x1b[]P_^X\\;:?>=$ !'0169\x05\x07\x0a\x0d\x18\x1a\x7fcnpqtuxhmZ\xc2\x90\x9b\x9c\x9d\xe2\x82\xac\xef\xbb\xbf\xff",
    ...["a", "W", "\x1b[", "\x1b]", "\xc2\x9b"],
  );
  const piece = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...Object.values(QUERIES)) },
    { weight: 2, arbitrary: fc.constantFrom(...Object.values(OTHERS)) },
    { weight: 6, arbitrary: shred },
  );
  const output = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

  test("filtered output is drawn as the whole is, and nothing is typed, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(output, fc.infiniteStream(fc.integer({ min: 1, max: 9 })), async (raw, lengths) => {
        const pieces: string[] = [];
        for (let at = 0; at < raw.length; at += pieces.at(-1)?.length ?? 1)
          pieces.push(raw.slice(at, at + (lengths.next().value ?? 1)));
        const left = filtered(never(), pieces);
        expect([filtered(never(), [raw]), filtered(always(), pieces)]).toEqual([left, raw]);
        const drawn = await draw(bytes(left));
        expect(drawn.typed).toBe("");
        expect(drawn.screen).toBe((await draw(bytes(raw))).screen);
      }),
      { seed: 5, numRuns: Number(process.env.FUZZ_RUNS ?? 400) },
    );
  });
});

describe("counts", () => {
  const clamping = () => new QueryFilter(() => true, { mend: (_, csi) => withinScreen(csi, { cols: 80, rows: 24 }) });

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
    expectLeft(clamping, sequence, drawn);
  });

  test("35: what counts nothing, or not too far, passes byte for byte", () => {
    const near = ["\x1b[24S", "\x1b[1920b", "\x1b[?99999h", "\x1b[>99999S", "\x1b[99999m"];
    for (const output of [...Object.values(OTHERS), ...near]) expectLeft(clamping, output, output);
  });
});

describe("K6c: of a replay what does more than draw is left out", () => {
  const replaying = (end: number) => () => new QueryFilter(() => true, { replayEnd: () => end });
  const gone = [
    ...["\x07", "\x1b]52;c;aGk=\x07", "\x1b]52;c;aGk=\x1b\\", "\xc2\x9d052;p;aGk=\xc2\x9c", "\x1b]52;c;?\x07"],
    ...[`\x1b]52;c;${"QUJD".repeat(3_000)}\x07`, `\x1b]${"0".repeat(5_000)}52;c;aGk=\x07`],
    ...["\x1b]9;done\x07", "\x1b]9;4;1;50\x1b\\", "\x1b]777;notify;title;text\x07", "\x1b]99;i=1:d=0;Hello\x1b\\"],
    ...["\x1b]5522;type=write\x1b\\", "\x1b]1337;Copy=:aGk=\x07", "\x1b]1337;RequestAttention=yes\x1b\\"],
    ...["\x1b]1337;File=name=eA==;size=2:aGk=\x07", "\x1b[5i", "\x1b[?5i", "\x1b[8;200;200t", "\x1b[48t"],
    ...["\x1b[132$|", "\x1b[48*|", "\x1b[7;4;1,~", "\x1b[12;2]", '\x1b]51;["call","Tapi_x",[]]\x07'],
    ...["\x1b]440;a.wav\x07", "\x1b]9001;CmdNotFound;x\x1b\\"],
  ];
  // What draws, or names, passes.
  const kept = [
    ...["\x1b]0;title\x07", "\x1b]8;;http://a\x07", "\x1b]133;A\x07", "\x1b[22;0t", "\x1b]1337;SetMark\x07"],
    "\x1b]1337;File=inline=1;size=2:aGk=\x07",
  ];
  test.each<readonly [string, string]>([
    ...gone.map((output) => [output, ""] as const),
    ...kept.map((output) => [output, output] as const),
    ["\x1b[1\x07m", "\x1b[1m"],
    // However long its beginning is.
    [`\x1b[${"0".repeat(5_000)}5i`, `\x1b[${"0".repeat(5_000)}5\x18`],
    // A multiplexer's envelope: what is in it is dealt with as what it is.
    ["\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\", "\x1bPtmux;\x1b\x1b\\\x1b\\"],
  ])("%j, wherever it is cut; live, all of it passes", (output, drawn) => {
    expectLeft(replaying(Number.POSITIVE_INFINITY), output, drawn);
    expectLeft(replaying(0), output, output);
  });

  test("the replay's last byte decides: what ends live has its effect", () => {
    expect(filtered(replaying(3)(), ["a\x07b\x07c"])).toBe("ab\x07c");
    expect(filtered(replaying(3)(), ["\x1b[5i"])).toBe("\x1b[5i");
  });
});
