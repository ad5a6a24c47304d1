// The list of panes as it goes over the hop: whatever programs have called themselves, the other end can read it.
import { MAX_CONTROL_OUT_BYTES } from "sandbox-stdio/core";
import type { Pane, PaneList, Window } from "sandbox-stdio/panes";
import { expect, test } from "vitest";
import { parseInnerMessage } from "../../../packages/sandbox-stdio/src/wire/inner-messages.ts";
import { panesMessage } from "../../src/panes/session-panes.ts";

function listOf(count: number, paneName: string, windowName: string): PaneList {
  const size = { cols: 100_000, rows: 100_000 };
  const ids = Array.from({ length: count }, (_, i) => 999_999_000 + i);
  const pane = (i: number): Pane => ({
    ...{ id: `%${i}`, name: paneName, window: `@${i}`, active: false, left: 99_999, top: 99_999 },
    ...size,
  });
  const window = (i: number): Window => ({
    ...{ id: `@${i}`, name: windowName, active: false, zoomed: false, layout: "" },
    ...size,
  });
  return { panes: ids.map(pane), windows: ids.map(window), taken: new Map(), elsewhere: new Set() };
}

const read = (list: PaneList) => parseInnerMessage(JSON.stringify(panesMessage(list)), MAX_CONTROL_OUT_BYTES);

test.each([
  ["a pane that a program has named at length", listOf(1, "n".repeat(1_000), "w")],
  ["a window with a long title of wide characters", listOf(1, "n", "\u{1f600}".repeat(500))],
  ["more windows than a message has room for", listOf(2_000, "n".repeat(65), '"'.repeat(65))],
])("B4: %s does not end the connection", (_what, list) => {
  const result = read(list);
  expect(result.ok ? "" : result.detail).toBe("");
});

test("B4: what a program calls a window is told without characters that turn or hide the text beside it", () => {
  const { windows } = panesMessage(listOf(1, "n", "log\u202e\u2066s\u200b\u0007\u2028.txt"));
  expect(windows[0]?.name).toBe("logs.txt");
});

test("B4: as many panes and windows are told as fit, the first ones", () => {
  const told = panesMessage(listOf(2_000, "n", "w".repeat(64)));
  expect([told.panes.length, told.windows.length]).toEqual([128, 128]);
  expect(told.panes[0]?.id).toBe("%999999000");
  expect(panesMessage(listOf(100, "n", "w")).windows.length).toBe(100);
});
