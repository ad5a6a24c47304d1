// Answers that nobody waits for any more: none leaves a connection open.
import { expect, test, vi } from "vitest";
import { responseInTime, whileWanted } from "../../src/sandbox/given-up.ts";

/** An answer that comes when it is told to, and what becomes of it. */
function lateAnswer() {
  const cancelled = vi.fn();
  let come: (response: Response) => void = () => undefined;
  const answer = new Promise<Response>((resolve) => {
    come = resolve;
  });
  return { answer, cancelled, come: () => come(new Response(new ReadableStream({ cancel: cancelled }))) };
}

test("what comes after its time has its body cancelled", async () => {
  vi.useFakeTimers();
  const { answer, cancelled, come } = lateAnswer();
  const waiting = responseInTime(answer, 10_000);
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(await waiting).toBeUndefined();
  come();
  await expect.poll(() => cancelled.mock.calls.length).toBe(1);
});

test("what comes after its caller has gone has its body cancelled, and its failure is nobody's", async () => {
  const { answer, cancelled, come } = lateAnswer();
  const caller = new AbortController();
  const waiting = whileWanted(answer, caller.signal);
  const failing = whileWanted(
    answer.then(() => Promise.reject(new Error("too late"))),
    caller.signal,
  );
  caller.abort(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(failing).rejects.toThrow("gone");
  come();
  await expect.poll(() => cancelled.mock.calls.length).toBe(1);
});

test("what comes in time is the answer, whatever becomes of its caller then", async () => {
  const { answer, cancelled, come } = lateAnswer();
  const caller = new AbortController();
  const waiting = Promise.all([whileWanted(answer, caller.signal), responseInTime(answer, 10_000)]);
  come();
  expect((await waiting).map((response) => response?.status)).toEqual([200, 200]);
  caller.abort();
  await Promise.resolve();
  expect(cancelled).not.toHaveBeenCalled();
});
