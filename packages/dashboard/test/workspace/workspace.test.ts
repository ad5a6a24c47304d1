// What a person has open: alone until more than one pane is needed, then their tabs, kept for each device.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listOfKeys, type Pressed, refusalOfKey } from "../../src/keys/own-keys.ts";
import { allTargets, focusOf, type Layout, NOTHING_OPEN, paneIdOf } from "../../src/workspace/layout.ts";
import { close, open, resize, split } from "../../src/workspace/layout-edits.ts";
import type { Kept } from "../../src/workspace/layout-kept.ts";
import { ALL_COMMANDS, applied, commandOfKey, edgeAt, keysOfCommand } from "../../src/workspace/layout-keys.ts";
import type { LayoutApi, SaveResult, StoredLayout } from "../../src/workspace/layout-remote.ts";
import { Workspace } from "../../src/workspace/workspace.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const at = (session: string) => ({ sandbox: "dev", session });
const id = (session: string) => paneIdOf(at(session));
const names = ({ layout }: { layout: Layout }) => allTargets(layout).map(({ session }) => session);

/** One person's layout on a server, for several devices. */
class Server implements LayoutApi {
  there: StoredLayout = { revision: 0, kept: undefined };
  isReachable = true;
  puts = 0;
  async read() {
    return this.isReachable ? this.there : undefined;
  }
  async keep(kept: Kept, base: number): Promise<SaveResult> {
    this.puts += 1;
    if (!this.isReachable) return { kind: "failed" };
    if (base !== this.there.revision) return { kind: "other", there: this.there };
    this.there = { revision: base + 1, kept };
    return { kind: "kept", revision: base + 1 };
  }
}

const other = (layout: Layout) => split(layout, focusOf(layout) ?? "", "right", at("other"));

test("alone, a page neither asks nor keeps anything", async () => {
  const server = new Server();
  const workspace = new Workspace(server, at("a"));
  workspace.editHere((layout) => open(layout, at("a")));
  workspace.flush();
  await vi.runAllTimersAsync();
  expect([server.puts, workspace.getState().isAlone]).toEqual([0, true]);
});

test("a window beside saved tabs keeps its own over a reload, and brings the others in when it is asked to", async () => {
  const server = new Server();
  const before = [at("x"), at("y")].reduce(open, NOTHING_OPEN);
  server.there = { revision: 7, kept: { layout: before, sandboxes: ["far"], names: {}, places: {} } };
  let kept: Kept | undefined;
  const tabs = {
    read: () => kept,
    write: (value: Kept | undefined) => {
      kept = value;
    },
  };
  const workspace = new Workspace(server, at("a"), tabs);
  await workspace.edit(other);
  expect(workspace.getState()).toMatchObject({ isAlone: false, elsewhere: 2, sandboxes: ["dev", "far"] });
  workspace.flush();
  await vi.runAllTimersAsync();
  expect([names(workspace.getState()), server.puts]).toEqual([["a", "other"], 0]);
  const reloaded = new Workspace(server, at("other"), tabs);
  await vi.runAllTimersAsync();
  expect([names(reloaded.getState()), reloaded.getState().elsewhere, server.puts]).toEqual([["a", "other"], 2, 0]);
  await reloaded.join();
  expect([names(reloaded.getState()), focusOf(reloaded.getState().layout)]).toEqual([
    ["a", "other", "x", "y"],
    id("other"),
  ]);
  await vi.runAllTimersAsync();
  expect([server.there.revision, kept]).toEqual([8, undefined]);
  const phone = new Workspace(server, at("x"));
  await phone.join();
  expect([names(phone.getState()), focusOf(phone.getState().layout)]).toEqual([["a", "other", "x", "y"], id("x")]);
});

test("the folder of a session stays with its saved tab: kept with the next change, or as the page closes", async () => {
  const server = new Server();
  const workspace = new Workspace(server, at("a"));
  await workspace.edit(other);
  await vi.runAllTimersAsync();
  workspace.placed(at("other"), "src");
  await vi.runAllTimersAsync();
  expect(server.puts).toBe(1);
  workspace.flush();
  await vi.runAllTimersAsync();
  const phone = new Workspace(server, at("a"));
  await phone.join();
  expect([server.puts, phone.getState().places]).toEqual([2, { "dev/other": "src" }]);
});

test("many changes are kept at once, a second after the last, and those of a page that goes at once", async () => {
  const server = new Server();
  const workspace = new Workspace(server, at("a"));
  await workspace.edit(other);
  for (const name of ["b", "c", "d"]) await workspace.edit((layout) => open(layout, at(name)));
  await vi.advanceTimersByTimeAsync(999);
  expect(server.puts).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(server.puts).toBe(1);
  await workspace.edit((layout) => close(layout, id("d")));
  workspace.flush();
  await vi.advanceTimersByTimeAsync(0);
  expect(server.there.kept?.layout).toEqual(workspace.getState().layout);
});

test("two devices that change it end with the same sessions, whichever was first", async () => {
  const server = new Server();
  const laptop = new Workspace(server, at("a"));
  await laptop.edit(other);
  await vi.runAllTimersAsync();
  const phone = new Workspace(server, at("a"));
  await phone.join();
  await phone.edit((layout) => open(layout, at("phone")));
  await laptop.edit((layout) => open(close(layout, id("other")), at("laptop")));
  await vi.runAllTimersAsync();
  expect(new Set(server.there.kept && names(server.there.kept))).toEqual(new Set(["a", "phone", "laptop"]));
});

test("where the server takes nothing the tabs are there all the same, said, and kept once it does", async () => {
  const server = new Server();
  server.isReachable = false;
  const workspace = new Workspace(server, at("a"));
  await workspace.edit(other);
  expect(workspace.getState()).toMatchObject({ isAlone: false, isKept: false });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(server.puts).toBe(1);
  server.isReachable = true;
  await vi.advanceTimersByTimeAsync(15_000);
  expect([workspace.getState().isKept, server.there.kept && names(server.there.kept)]).toEqual([true, ["a", "other"]]);
});

const key = (code: string, more: Partial<Pressed> = {}): Pressed => ({
  code,
  ctrlKey: true,
  shiftKey: true,
  altKey: false,
  metaKey: false,
  ...more,
});

test("a name is kept for the person, from a page that is alone too, over what other devices keep", async () => {
  const server = new Server();
  const layout = open(NOTHING_OPEN, at("x"));
  server.there = { revision: 7, kept: { layout, sandboxes: ["far"], names: { "dev/x": "logs" }, places: {} } };
  const alone = new Workspace(server, at("a"));
  await alone.loadNames();
  await alone.rename(at("a"), "  the\tbuild ");
  expect(alone.getState()).toMatchObject({ isAlone: true, names: { "dev/x": "logs", "dev/a": "the build" } });
  expect(server.there).toEqual({
    revision: 8,
    kept: { layout, sandboxes: ["far"], names: { "dev/x": "logs", "dev/a": "the build" }, places: {} },
  });
  const tabs = new Workspace(server, at("x"));
  await tabs.join();
  await tabs.rename(at("x"), "");
  await alone.rename(at("a"), "tests");
  await vi.runAllTimersAsync();
  expect(server.there.kept?.names).toEqual({ "dev/a": "tests" });
  expect(tabs.getState().names).toEqual({ "dev/a": "tests" });
});

test("what was closed comes back where it was, or in a tab if something moved since", async () => {
  const workspace = new Workspace(new Server(), at("a"));
  await workspace.edit(other);
  const { layout } = workspace.getState();
  await workspace.edit((now) => close(now, id("other")));
  expect([names(workspace.getState()), workspace.getState().closed.length]).toEqual([["a"], 1]);
  workspace.reopen();
  expect([workspace.getState().layout.tabs, workspace.getState().closed]).toEqual([layout.tabs, []]);
  await workspace.edit((now) => close(now, id("other")));
  await workspace.edit((now) => open(now, at("b")));
  workspace.reopen();
  expect(workspace.getState().layout.tabs.map(({ focus }) => focus)).toEqual([id("a"), id("b"), id("other")]);
  workspace.reopen();
  expect(names(workspace.getState())).toEqual(["a", "b", "other"]);
});

test("of the keys few are taken, none that finds something in a terminal, and with one pane none that leads to another", () => {
  const alt = { ctrlKey: false, altKey: true };
  expect(commandOfKey(key("KeyP"), false)).toEqual({ do: "palette" });
  // Firefox', which is told of there alone.
  expect(commandOfKey(key("KeyK"), false)).toBe(undefined);
  expect([commandOfKey(key("KeyM"), true), commandOfKey(key("KeyM"), false)]).toEqual([{ do: "maximize" }, undefined]);
  expect(commandOfKey(key("ArrowLeft", alt), true)).toEqual({ do: "focus", direction: "left" });
  expect(commandOfKey(key("BracketRight"), true)).toEqual({ do: "show-tab", by: 1 });
  expect(commandOfKey(key("ArrowLeft", alt), false)).toBe(undefined);
  for (const code of ["BracketRight", "KeyX"]) expect(commandOfKey(key(code), false)).toBe(undefined);
  for (const code of ["KeyC", "KeyV", "KeyI", "KeyF", "ArrowUp", "Comma", "Enter"])
    expect(commandOfKey(key(code), true)).toBe(undefined);
  for (const more of [{ ctrlKey: false }, { shiftKey: false }, alt, { altKey: true }, { metaKey: true }]) {
    expect(commandOfKey(key("KeyP", more), true)).toBe(undefined);
  }
  expect([keysOfCommand({ do: "palette" }, {}), keysOfCommand({ do: "divide", direction: "down" }, {})]).toEqual([
    "Ctrl+Shift+P",
    "Ctrl+Shift+E",
  ]);
  expect(keysOfCommand({ do: "own-tab" }, {})).toBe("");
  // None is there twice, and each may be chosen.
  const all = ALL_COMMANDS.flatMap((command) => listOfKeys(keysOfCommand(command, {})));
  expect([new Set(all).size, all.filter((each) => refusalOfKey(each) !== undefined)]).toEqual([all.length, []]);
});

test("a command does to the layout what it says, and nothing at an edge", () => {
  const layout = split(open(NOTHING_OPEN, at("a")), id("a"), "right", at("b"));
  expect(focusOf(applied(layout, { do: "focus", direction: "left" }))).toBe(id("a"));
  expect(applied(layout, { do: "focus", direction: "up" })).toBe(layout);
  expect(names({ layout: applied(layout, { do: "move", direction: "left" }) })).toEqual(["b", "a"]);
  expect(applied(layout, { do: "own-tab" }).tabs.length).toBe(2);
  expect(applied(layout, { do: "show-tab", by: 1 })).toBe(layout);
  expect(applied(NOTHING_OPEN, { do: "own-tab" })).toBe(NOTHING_OPEN);
  const maximized = applied(layout, { do: "maximize" });
  expect(maximized.tabs[0]?.isMaximized).toBe(true);
  expect(applied(maximized, { do: "maximize" })).toEqual(layout);
  expect(applied(resize(layout, "", 0.2), { do: "equalize" })).toEqual(layout);
});

test("what is let go over a pane goes to the edge that is nearest", () => {
  expect([edgeAt(0.1, 0.5), edgeAt(0.9, 0.5), edgeAt(0.5, 0.1), edgeAt(0.5, 0.9)]).toEqual([
    ...["left", "right", "up", "down"],
  ]);
});
