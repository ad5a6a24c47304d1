// tmux's text of a window's division.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Layout, layoutChecksum, panesOf, parseLayout } from "../../src/panes/layout.ts";

function written(layout: Layout): string {
  const cell = `${layout.cols}x${layout.rows},${layout.left},${layout.top}`;
  if (layout.kind === "pane") return `${cell},${layout.pane.slice(1)}`;
  const parts = layout.parts.map(written).join(",");
  return cell + (layout.kind === "row" ? `{${parts}}` : `[${parts}]`);
}

function withSum(body: string): string {
  return `${layoutChecksum(body).toString(16).padStart(4, "0")},${body}`;
}

const number = fc.nat(999);
const anyLayout = fc.letrec<{ layout: Layout }>((tie) => {
  const cell = { cols: number, rows: number, left: number, top: number };
  return {
    layout: fc.oneof(
      { maxDepth: 5 },
      fc.record({ ...cell, kind: fc.constant("pane" as const), pane: fc.nat(9_999).map((id) => `%${id}`) }),
      fc.record({
        ...cell,
        kind: fc.constantFrom("row" as const, "column" as const),
        parts: fc.array(tie("layout"), { minLength: 1, maxLength: 4 }),
      }),
    ),
  };
}).layout;

describe("B3: a layout", () => {
  test("of tmux itself is read, with its checksum", () => {
    expect(parseLayout("8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1}")).toEqual({
      ...{ kind: "row", cols: 80, rows: 24, left: 0, top: 0 },
      parts: [
        { kind: "pane", pane: "%0", cols: 40, rows: 24, left: 0, top: 0 },
        { kind: "pane", pane: "%1", cols: 39, rows: 24, left: 41, top: 0 },
      ],
    });
    const single = parseLayout("b25d,80x24,0,0,0");
    expect(single && panesOf(single)).toEqual([{ kind: "pane", pane: "%0", cols: 80, rows: 24, left: 0, top: 0 }]);
  });

  test("comes back as it was written, and no part of its text is a layout", () => {
    fc.assert(
      fc.property(anyLayout, fc.nat(), (layout, cut) => {
        const body = written(layout);
        expect(parseLayout(withSum(body))).toEqual(layout);
        // With the right checksum, so that the shape is what is refused.
        const part = body.slice(0, cut % body.length);
        if (!/\d$/.test(part)) expect(parseLayout(withSum(part))).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["with another checksum", "8206,80x24,0,0{40x24,0,0,0,39x24,41,0,1}"],
    ["with something behind it", withSum("80x24,0,0,0]")],
    ["closed by the other bracket", withSum("80x24,0,0{40x24,0,0,0,39x24,41,0,1]")],
    ["without panes", withSum("80x24,0,0{}")],
    ["of a kind that a newer tmux has", withSum("80x24,0,0<40x24,0,0,0>")],
    ["that is nothing", ""],
    ["that is divided without end", withSum("80x24,0,0{".repeat(20_000))],
  ])("%s is none", (_, text) => {
    expect(parseLayout(text)).toBeUndefined();
  });
});
