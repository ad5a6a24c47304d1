// What a page draws of a session's panes.

import { isName, type PanesMessage } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import {
  activePane,
  dragged,
  isPaneSession,
  neighbourOf,
  nextPane,
  nextWindow,
  paneAddress,
  paneSession,
  viewOf,
  windowName,
} from "../../src/session/panes-model.ts";

const WINDOW = { id: "@0", name: "sh", active: true, cols: 100, rows: 20, zoomed: false };
const LEFT = { id: "%0", name: "left", window: "@0", active: false, cols: 49, rows: 20, left: 0, top: 0 };
const RIGHT = { id: "%1", name: "right", window: "@0", active: true, cols: 50, rows: 20, left: 50, top: 0 };
const ELSEWHERE = { ...LEFT, id: "%2", window: "@1" };
const TOLD: PanesMessage = {
  type: "panes",
  panes: [LEFT, RIGHT, ELSEWHERE],
  windows: [WINDOW, { ...WINDOW, id: "@1", active: false }],
};

test("B4: the active window's panes stand where tmux has them, with a border between, and each window is a tab", () => {
  const { tabs, panes, borders } = viewOf(TOLD);
  expect(tabs.map(({ id }) => id)).toEqual(["@0", "@1"]);
  expect(panes).toEqual([
    { pane: LEFT, left: 0, top: 0, width: 49, height: 100 },
    { pane: RIGHT, left: 50, top: 0, width: 50, height: 100 },
  ]);
  expect(borders).toEqual([{ pane: LEFT, side: "right", left: 49, top: 0, width: 1, height: 100 }]);
});

test("B4: of a zoomed window the active pane alone is seen, and of no window nothing", () => {
  const zoomed = viewOf({ ...TOLD, windows: [{ ...WINDOW, zoomed: true }] });
  expect([zoomed.panes.map(({ pane }) => pane.id), zoomed.borders]).toEqual([["%1"], []]);
  expect(viewOf({ type: "panes", panes: [], windows: [] })).toEqual({ tabs: [], panes: [], borders: [] });
});

test("B9: a border that is dragged resizes the pane before it, and never to nothing", () => {
  const [border] = viewOf(TOLD).borders;
  if (border === undefined) throw new Error("no border");
  expect(dragged(border, -9)).toEqual({ type: "resize", pane: "%0", cols: 40, rows: 20 });
  expect(dragged(border, -49)).toBeUndefined();
  expect(dragged(border, 0)).toBeUndefined();
});

test("B5: the active pane, the next one, and the nearest one each way", () => {
  const below = { ...RIGHT, id: "%3", rows: 9, top: 11 };
  const three = { ...TOLD, panes: [LEFT, { ...RIGHT, rows: 10 }, below, ELSEWHERE] };
  expect([activePane(TOLD)?.id, nextPane(three, "%3")?.id, nextPane(three, "%2")]).toEqual(["%1", "%0", undefined]);
  const way = (id: string) =>
    (["left", "right", "up", "down"] as const).map((each) => neighbourOf(three, id, each)?.id ?? "");
  expect([way("%0"), way("%1"), way("%3")]).toEqual([
    ["", "%1", "", ""],
    ["%0", "", "", "%3"],
    ["%0", "", "%1", ""],
  ]);
});

test("B2: a pane's session has a name that every page finds, and no pane of another session has", () => {
  expect(paneSession("main", "%12")).toBe("main.pane.12");
  const long = "s".repeat(60);
  const names = [`${long}a`, `${long}b`].map((session) => paneSession(session, "%12"));
  expect(names.map((name) => [name.length, isName(name), isPaneSession(name)])).toEqual([
    [64, true, true],
    [64, true, true],
  ]);
  expect(names[0]).not.toBe(names[1]);
  expect(isPaneSession("main.pane.x")).toBe(false);
});

test("B2: a pane is asked for by where it is, and by nothing that starts something", () => {
  const asked = "/attach?sandbox=dev&cmd=tmux&arg=-CC&tty=1&keep=60&mode=exclusive&name=ann";
  expect(paneAddress(asked, "https://sbx.example/?session=main", "main", "%3")).toBe(
    "https://sbx.example/attach?sandbox=dev&mode=exclusive&name=ann&pane=main%3A3",
  );
});

test("B8: the next window is the one behind, and a window's name has what a name may have", () => {
  expect([nextWindow(TOLD)?.id, nextWindow({ ...TOLD, windows: [WINDOW] })]).toEqual(["@1", undefined]);
  expect(["my logs ", "a'; kill-server #(x)", "日本", "x".repeat(70)].map(windowName)).toEqual([
    "my-logs",
    "a-kill-server-x",
    "",
    "x".repeat(64),
  ]);
});
