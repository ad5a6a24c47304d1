// What a program tells the person, read from its sequences.

import { expect, test } from "vitest";
import {
  isWorthNotice,
  NoticeLimit,
  type Progress,
  readOsc9,
  readOsc777,
  titleWith,
} from "../../src/output/program-notices.ts";

const notice = (title: string, text: string) => ({ kind: "notice", notice: { title, text } });
const progress = (of: Progress | undefined) => ({ kind: "progress", progress: of });
const half: Progress = { kind: "percent", percent: 50, tone: "normal" };

test.each([
  ["Build done", notice("", "Build done")],
  ["5 tests failed", notice("", "5 tests failed")],
  ["two\nlines\x07", notice("", "two ⏎ lines�")],
  ["4;1;50", progress(half)],
  ["4;1;250", progress({ ...half, percent: 100 })],
  ["4;2;30", progress({ kind: "percent", percent: 30, tone: "failed" })],
  ["4;4", progress({ kind: "percent", percent: 50, tone: "paused" })],
  ["4;3", progress({ kind: "unknown" })],
  ["4;0;", progress(undefined)],
  // ConEmu's others: a pause, a message box, the working directory.
  ["1;500", undefined],
  ["9;/work", undefined],
  ["4;7;1", undefined],
  ["", undefined],
])("OSC 9 %j", (data, expected) => {
  expect(readOsc9(data, half)).toEqual(expected);
});

test.each([
  ["notify;Title;Text; with more", notice("Title", "Text; with more")],
  ["notify;Title", notice("Title", "")],
  ["notify;", undefined],
  ["precmd;x", undefined],
])("OSC 777 %j", (data, expected) => {
  expect(readOsc777(data)).toEqual(expected);
});

test("a tab's title says how far its program is", () => {
  const titles = [
    undefined,
    half,
    { ...half, tone: "failed" },
    { ...half, tone: "paused" },
    { kind: "unknown" },
  ] as const;
  expect(titles.map((each) => titleWith(each, "make"))).toEqual([
    "make",
    "50% make",
    "✗ 50% make",
    "⏸ 50% make",
    "… make",
  ]);
});

test("the end of a command is told if it took ten seconds and nobody looks", () => {
  const told = [isWorthNotice(0, 10_000, true), isWorthNotice(1, 10_000, true), isWorthNotice(0, 10_000, false)];
  expect([...told, isWorthNotice(undefined, 99_999, true)]).toEqual([true, false, false, false]);
});

test("five notices come in a minute, however many a program prints", () => {
  const limit = new NoticeLimit();
  const shown = (nowMs: number) => Array.from({ length: 9 }, () => limit.take(nowMs)).filter(Boolean).length;
  expect([shown(0), shown(59_999), shown(60_000), shown(60_001)]).toEqual([5, 0, 5, 0]);
});
