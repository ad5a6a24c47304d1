// When a container counts as one whose bridge hangs, and is ended for it.
import { expect, test, vi } from "vitest";
import { HangWatch } from "../../src/sandbox/hang-watch.ts";

/** A container where every question fails with `error`; how often it was asked and ended. */
async function suspected(error: Error) {
  const asked = vi.fn(() => Promise.reject(error));
  const destroy = vi.fn(async () => undefined);
  const container = { running: true, getTcpPort: () => ({ fetch: asked }), destroy };
  const pending: Promise<unknown>[] = [];
  const state = { id: "id", container, waitUntil: (promise: Promise<unknown>) => pending.push(promise) };
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.useFakeTimers();
  new HangWatch(state as unknown as DurableObjectState, {}).suspect();
  await vi.runAllTimersAsync();
  await Promise.all(pending);
  vi.useRealTimers();
  vi.restoreAllMocks();
  return { asked: asked.mock.calls.length, ended: destroy.mock.calls.length };
}

test("a bridge that answers nothing, three times in a row, has its container ended", async () => {
  expect(await suspected(new DOMException("timed out", "TimeoutError"))).toEqual({ asked: 3, ended: 1 });
});

test("a container where nothing listens yet is still starting: it is left alone", async () => {
  const error = new Error("Container is not listening to port 8080");
  expect(await suspected(error)).toEqual({ asked: 1, ended: 0 });
});
