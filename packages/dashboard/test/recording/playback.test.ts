// Playing a recording: pauses, speed, idle time, and going elsewhere.

import type { CastEvent, CastInfo } from "sandbox-stdio/recording";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Playback, type Source } from "../../src/recording/playback.ts";

const INFO: CastInfo = { version: 3, cols: 80, rows: 24 };
const out = (afterMs: number, text: string): CastEvent => ({ afterMs, type: "o", text });
const sourceOf = (...events: readonly CastEvent[]): Source =>
  async function* () {
    yield [INFO, events] as const;
  };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function player() {
  const shown: string[] = [];
  const playback = new Playback({
    reset: ({ cols, rows }) => void shown.push(`reset ${cols}x${rows}`),
    show: (event) => void shown.push(event.type === "o" ? event.text : event.type),
    changed: () => undefined,
  });
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return shown.splice(0);
  };
  return { playback, pass };
}

test("shows the screen of its place, waits until it plays, and stops at the end", async () => {
  const { playback, pass } = player();
  const ended = playback.start(sourceOf(out(0, "screen"), out(1_000, "a"), out(500, "b")), 5_000);
  expect(await pass(60_000)).toEqual(["reset 80x24", "screen"]);
  expect(playback.state.atMs).toBe(5_000);
  playback.set({ isPlaying: true });
  expect(await pass(999)).toEqual([]);
  expect(await pass(1)).toEqual(["a"]);
  playback.set({ isPlaying: false });
  expect(await pass(60_000)).toEqual([]);
  playback.set({ isPlaying: true });
  expect(await pass(500)).toEqual(["b"]);
  await ended;
  expect([playback.state.isPlaying, playback.state.atMs]).toEqual([false, 6_500]);
});

test("a speed holds at once, also within a pause; the position is the recording's", async () => {
  const { playback, pass } = player();
  void playback.start(sourceOf(out(8_000, "a")), 0);
  playback.set({ isPlaying: true });
  await pass(2_000);
  expect(playback.state.atMs).toBe(2_000);
  playback.set({ speed: 4 });
  expect(await pass(1_499)).toEqual([]);
  expect(await pass(1)).toEqual(["a"]);
  expect(playback.state.atMs).toBe(8_000);
});

test("idle time is skipped to a second, and its position is told", async () => {
  const { playback, pass } = player();
  playback.set({ skipsIdle: true });
  void playback.start(sourceOf(out(3_600_000, "a"), out(900, "b")), 0);
  playback.set({ isPlaying: true });
  await pass(10);
  expect(playback.state.atMs).toBeGreaterThan(3_598_900);
  expect(await pass(990)).toEqual(["a"]);
  expect(await pass(900)).toEqual(["b"]);
});

test("short pauses are gathered, so that many events cost no timer each", async () => {
  const { playback, pass } = player();
  const many = Array.from({ length: 1_000 }, (_, n) => out(1, String(n)));
  playback.set({ speed: 100 });
  playback.set({ isPlaying: true });
  void playback.start(sourceOf(...many), 0);
  expect((await pass(20)).length).toBe(1_001);
});

test("the position behind what is shown is not before it, for a link that shows it again", async () => {
  const { playback, pass } = player();
  playback.set({ isPlaying: true });
  void playback.start(sourceOf(out(0, "a"), out(1_233.999_999, "b"), out(2, "c")), 1_764_000_000_000);
  expect(await pass(1_300)).toEqual(["reset 80x24", "a", "b", "c"]);
  expect(playback.state.atMs).toBe(1_764_000_001_236);
});

test("a start elsewhere ends the one before it, of which nothing more is shown", async () => {
  const { playback, pass } = player();
  playback.set({ isPlaying: true });
  const first = playback.start(sourceOf(out(0, "one"), out(100, "two")), 0);
  expect(await pass(50)).toEqual(["reset 80x24", "one"]);
  void playback.start(sourceOf(out(0, "three")), 9_000);
  expect(await pass(1_000)).toEqual(["reset 80x24", "three"]);
  await first;
});

test("a source that fails stops it, with the reason", async () => {
  const { playback } = player();
  playback.set({ isPlaying: true });
  const failing: Source = async function* () {
    yield [INFO, [out(0, "a")]] as const;
    throw new Error("line 2 is not JSON");
  };
  await expect(playback.start(failing, 0)).rejects.toThrow("line 2 is not JSON");
  expect(playback.state.isPlaying).toBe(false);
});
