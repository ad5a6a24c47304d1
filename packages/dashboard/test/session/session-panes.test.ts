// A session's panes as the page has them: what is list, who has the focus, what is ordered.

import type { ClientMessage, ClientState, PanesMessage, ServerMessage } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { SessionPanes } from "../../src/session/session-panes.ts";

type Listener = { state(state: ClientState): void; message(message: ServerMessage): void; reset(): void };

const ENDED: ClientState = { phase: "ended", end: { kind: "left" } };

/** Two panes of the window that is seen, one of another. */
function list(active: "%0" | "%1" | "%2"): PanesMessage {
  const pane = (id: string, window: string, left: number) => {
    const isActive = id === active || id === "%2" || (active === "%2" && id === "%0");
    return { id, name: "", window, active: isActive, cols: 40, rows: 20, left, top: 0 };
  };
  const window = (id: string) => {
    return { id, name: "sh", active: (id === "@1") === (active === "%2"), cols: 81, rows: 20, zoomed: false };
  };
  return {
    type: "panes",
    panes: [pane("%0", "@0", 0), pane("%1", "@0", 41), pane("%2", "@1", 0)],
    windows: [window("@0"), window("@1")],
  };
}

function setUp({ mayType = true } = {}) {
  const said: ClientMessage[] = [];
  let timer: (() => void) | undefined;
  let listener: Listener | undefined;
  const panes = new SessionPanes({
    mayType,
    subscribe: (given) => {
      listener = given;
    },
    send: (message) => said.push(message),
    after: (_, act) => {
      timer = act;
      return () => {
        timer = undefined;
      };
    },
  });
  if (listener === undefined) throw new Error("nothing listens");
  const { message, state, reset } = listener;
  /** The time is over that was waited for. @returns Whether any was. */
  const wait = () => {
    const act = timer;
    timer = undefined;
    act?.();
    return act !== undefined;
  };
  return { panes, said, message, state, reset, wait, focus: () => panes.getState().focus };
}

test("B4: the pane that tmux has active has the focus, as long as the session has panes", () => {
  const { panes, message, state, focus } = setUp();
  expect(panes.getState()).toEqual({ list: undefined, focus: undefined, opened: new Set() });
  message(list("%1"));
  expect([focus(), [...panes.getState().opened]]).toEqual(["%1", ["%0", "%1"]]);
  message(list("%2"));
  expect([focus(), panes.getState().opened.size]).toEqual(["%2", 3]);
  message({ type: "panes", panes: [], windows: [] });
  expect(panes.getState()).toEqual({ list: undefined, focus: undefined, opened: new Set() });
  message(list("%0"));
  state(ENDED);
  expect(panes.getState().list).toBeUndefined();
});

test("B8: going to a pane asks tmux for it once, and a list from before that moves the focus nowhere", () => {
  const { panes, said, message, focus } = setUp();
  message(list("%0"));
  panes.focus("%1");
  panes.focus("%1");
  message(list("%0"));
  expect(focus()).toBe("%1");
  panes.focus("%2");
  message(list("%1"));
  expect(focus()).toBe("%2");
  message(list("%2"));
  expect([focus(), said]).toEqual([
    "%2",
    [
      { type: "pane", action: "select", pane: "%1" },
      { type: "pane", action: "select", pane: "%2" },
    ],
  ]);
});

test("B4: another client's choice moves the focus, and any other news of it does not", () => {
  const { panes, said, message, focus } = setUp();
  message(list("%0"));
  message(list("%1"));
  expect(focus()).toBe("%1");
  panes.focus("%0");
  message(list("%0"));
  message(list("%1"));
  expect([focus(), said.length]).toEqual(["%1", 1]);
});

test("B8: a request that was refused, or lost with the connection, is given up", () => {
  const { panes, message, state, focus } = setUp();
  message(list("%0"));
  panes.focus("%1");
  message({ type: "error", code: "pane_refused", message: "unknown" });
  expect(focus()).toBe("%0");
  panes.focus("%1");
  state({ phase: "starting" });
  message(list("%2"));
  expect(focus()).toBe("%2");
});

test("B8: a request that was lost is said again, also where an order was lost behind it, and then tmux has the last word", () => {
  const select = { type: "pane", action: "select", pane: "%1" };
  const { panes, said, message, state, wait, focus } = setUp();
  // Lost with the connection: the greeting tells what was list before.
  message(list("%0"));
  panes.focus("%1");
  state({ phase: "starting" });
  message(list("%0"));
  expect([focus(), wait(), said]).toEqual(["%1", true, [select, select]]);
  message(list("%1"));
  expect([focus(), wait(), wait(), said.length]).toEqual(["%1", true, false, 2]);
  // Lost between Worker and sandbox, with the order behind it, which nobody tells.
  message(list("%0"));
  panes.focus("%1");
  panes.act("close", "%1");
  expect([focus(), wait(), said.slice(4)]).toEqual(["%1", true, [select]]);
  message(list("%0"));
  expect([focus(), wait(), focus(), said.length]).toEqual(["%1", true, "%0", 5]);
  expect(wait()).toBe(false);
});

test("B8: of a person who may not type tmux is asked nothing, and a pane that is gone has no focus", () => {
  const { panes, said, message, wait, focus } = setUp({ mayType: false });
  message(list("%0"));
  panes.focus("%1");
  message(list("%0"));
  wait();
  expect([focus(), said]).toEqual(["%1", []]);
  const { panes: all, windows } = list("%0");
  message({ type: "panes", panes: all.filter(({ id }) => id !== "%1"), windows });
  expect(focus()).toBe("%0");
  panes.focus("%1");
  expect(focus()).toBe("%0");
});

test("B8: orders are said as they are, and what a new pane makes active takes the focus", () => {
  const { panes, said, message, focus } = setUp();
  message(list("%0"));
  panes.focus("%1");
  panes.split("%1", "below");
  message(list("%0"));
  expect(focus()).toBe("%1");
  message(list("%2"));
  expect(focus()).toBe("%2");
  panes.show("@0");
  panes.swap("%0", "%0");
  panes.swap("%0", "%1");
  panes.act("break", "%1");
  panes.newWindow();
  panes.joinWindow("%1", "@0");
  panes.rename("@0", "logs");
  panes.moveWindow("@0", "@0");
  panes.moveWindow("@1", "@0");
  panes.resize("%1", 30, 10);
  expect(said.slice(1)).toEqual([
    { type: "pane", action: "split", pane: "%1", across: "below" },
    { type: "pane", action: "select", pane: "%0" },
    { type: "pane", action: "swap", pane: "%0", with: "%1" },
    { type: "pane", action: "break", pane: "%1" },
    { type: "pane", action: "new_window" },
    { type: "pane", action: "rename_window", window: "@0", name: "logs" },
    { type: "pane", action: "move_window", window: "@1", with: "@0" },
    { type: "resize", pane: "%1", cols: 30, rows: 10 },
  ]);
});
