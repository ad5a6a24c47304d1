// The screen of a lost process, drawn on by its log in workerd: as if it had been seen to the end, or not at all.

import { OutputLog } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { redraw } from "../../src/programs/operations/redraw.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** What was seen after the first so many bytes: a screen of 20 by 4. */
function lost(before: string, behind: string, more: object = {}) {
  const log = new OutputLog({ cols: 20, rows: 4 });
  log.append(bytes(before + behind), 1);
  const offset = bytes(before).length;
  return { log, seen: { ansi: before, offset, cols: 20, rows: 4, title: "old", lines: ["old"], ...more } };
}

test("S2a: what came behind the last look is drawn, with modes, styles, title and cursor", async () => {
  const behind = "\x1b]0;new\x07\x1b[?2004h\x1b[?1h\x1b[31;1m\u{1f600}x\x1b[m \x1b[48;2;1;2;3my\x1b[m\x1b[?25l";
  const { log, seen } = lost("one\r\ntwo ", behind, { approximate: true });
  expect(await redraw(seen, log)).toEqual({
    ...{ cols: 20, rows: 4, offset: log.endOffset, alternate: false, title: "new", scrollback: [], approximate: true },
    cursor: { x: 9, y: 1, visible: false },
    modes: {
      ...{ bracketedPaste: true, applicationCursor: true, applicationKeypad: false, newLine: false, mouse: false },
    },
    lines: ["one", "two \u{1f600}x y", "", ""],
    runs: [
      [],
      [
        { x: 4, cols: 3, fg: 1, bold: true },
        { x: 8, cols: 1, bg: "#010203" },
      ],
      [],
      [],
    ],
  });
});

test("S2a: lines that have scrolled off since stand behind those that had before", async () => {
  const { log, seen } = lost("c\r\nd\r\ne\r\nf", "\r\ng\r\nh", { scrollback: ["a", "b"] });
  expect(await redraw(seen, log)).toMatchObject({ scrollback: ["a", "b", "c", "d"], lines: ["e", "f", "g", "h"] });
  const cleared = lost("c\r\nd\r\ne\r\nf\r\n", "\x1b[3J\r\ng", { scrollback: ["a", "b"] });
  expect(await redraw(cleared.seen, cleared.log)).toMatchObject({ scrollback: ["d"], lines: ["e", "f", "", "g"] });
  const full = lost("a", "\x1b[?1049h\x1b[Hfull", { scrollback: ["z"] });
  expect(await redraw(full.seen, full.log)).toMatchObject({
    alternate: true,
    scrollback: [],
    lines: ["full", "", "", ""],
  });
});

test("S2a: sizes that it had meanwhile count", async () => {
  const { log, seen } = lost("a\r\n", "b");
  log.markSize(10, 2);
  log.append(bytes("\r\n0123456789x"), 1);
  expect(await redraw(seen, log)).toMatchObject({ cols: 10, rows: 2, lines: ["0123456789", "x"] });
});

test("S2a: output that might take long is not drawn, nor is what does not fit its log", async () => {
  const { log, seen } = lost("a", "\x1b[2J".repeat(200_000));
  expect(await redraw(seen, log)).toBeUndefined();
  const large = lost("a", "\x1b[2J".repeat(50));
  expect(await redraw({ ...large.seen, cols: 1_000, rows: 500 }, large.log)).toBeUndefined();
  expect(await redraw(large.seen, large.log)).toMatchObject({ lines: ["", "", "", ""] });
  const gone = new OutputLog({ cols: 20, rows: 4 }, undefined, 10);
  gone.append(bytes("a"), 1);
  for (const odd of [
    { offset: 9 },
    { offset: 12 },
    { offset: 10.5 },
    { ansi: 1 },
    { cols: 0 },
    { rows: 501 },
    { cols: 1.5 },
    { offset: "1" },
  ])
    expect(await redraw({ ...seen, offset: 10, ...odd }, gone)).toBeUndefined();
});
