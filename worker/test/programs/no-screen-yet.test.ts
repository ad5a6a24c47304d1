// A bridge that has no answer about the screen: the caller is told so after two seconds, and when to ask again. What the answer
// says where the process is lost.
import type { InnerClient } from "sandbox-stdio/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { screen } from "../../src/programs/operations/ask-process.ts";
import type { Reached } from "../../src/programs/operations/reached.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The hop's end where an answer comes only if `answer` is called; what is forgotten is answered with nothing. */
function silentHop() {
  let answer: (json: Uint8Array | undefined) => void = () => undefined;
  const ask = () => {
    const asked = new Promise<Uint8Array | undefined>((resolve) => {
      answer = resolve;
    });
    return { answer: asked, forget: () => answer(undefined) };
  };
  return { hop: { ask } as unknown as InnerClient, answer: (json: object) => answer(bytes(json)) };
}

const bytes = (json: object) => new TextEncoder().encode(JSON.stringify(json));
const REACHED = { isTty: true, state: "running" } as unknown as Reached;
const NOTHING_KEPT = () => ({ screen: undefined, commands: undefined });
const NO_REDRAW = async () => undefined;
const ASKED = { type: "screen", format: "text" } as const;

test("S1: 503 no_screen_yet with Retry-After where the screen is not told within two seconds, not before", async () => {
  const { hop } = silentHop();
  const told = vi.fn();
  const answered = screen(REACHED, ASKED, hop, NOTHING_KEPT, NO_REDRAW).then(told);
  await vi.advanceTimersByTimeAsync(1_999);
  expect(told).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await answered;
  expect(told).toHaveBeenCalledWith({
    status: 503,
    body: expect.objectContaining({ error: "no_screen_yet" }),
    retryAfterSeconds: 1,
  });
});

test("S1: a screen that is told just within two seconds is the answer, and no timer is left", async () => {
  const { hop, answer } = silentHop();
  const answered = screen(REACHED, ASKED, hop, NOTHING_KEPT, NO_REDRAW);
  await vi.advanceTimersByTimeAsync(1_999);
  const modes = { bracketedPaste: true, applicationCursor: false, mouse: false };
  answer({ lines: ["here"], offset: 4, modes: { ...modes, applicationKeypad: true } });
  expect(await answered).toEqual({ status: 200, body: { lines: ["here"], offset: 4, modes } });
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  [4, { lines: ["here"], offset: 4 }],
  [5, { lines: ["here"], offset: 4, approximate: true }],
])("S2: a lost process's last screen, seen at 4, of a log that ends at %i", async (endOffset, told) => {
  const reached = { isTty: true, state: "lost", log: { endOffset } } as unknown as Reached;
  const kept = () => ({ screen: bytes({ lines: ["here"], offset: 4, modes: {} }), commands: undefined });
  const { status, body } = await screen(reached, ASKED, silentHop().hop, kept, NO_REDRAW);
  expect([status, body]).toEqual([200, { ...told, modes: {} }]);
});
