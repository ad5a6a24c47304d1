// A tab's memory of its place and its input, with storage and locks that are played.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { tabResumeStore } from "../../src/connection/resume-store.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A tab that remembers a place, whose lock another page holds until `release`. */
function tab(input: string | undefined, quota = Number.POSITIVE_INFINITY) {
  const items = new Map([["sbx.resume.k", "r"], ...(input === undefined ? [] : [["sbx.input.k", input] as const])]);
  const storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> = {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => {
      if (value.length > quota) throw new DOMException("full", "QuotaExceededError");
      items.set(name, value);
    },
    removeItem: (name) => void items.delete(name),
  };
  let release = (): void => undefined;
  const request = (_name: string, { signal }: LockOptions, granted: () => Promise<unknown>) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      release = () => resolve(granted());
    });
  const store = tabResumeStore("k", storage as Storage, { request } as unknown as LockManager);
  return { store, items, storage: storage as Storage, release: () => release() };
}

const INPUT = JSON.stringify({ resume: "r", offset: 3, length: 2, base64: btoa("ab") });

test("R6b: the target and the input beside it are waited for, as long as a slow reload may take to let go of them", async () => {
  const { store, items, release } = tab(INPUT);
  const claimed = store.claim();
  await vi.advanceTimersByTimeAsync(4_000);
  release();
  expect(await claimed).toBe("r");
  expect(store.takeInput()).toEqual({ offset: 3, length: 2, bytes: new TextEncoder().encode("ab") });
  expect([items.has("sbx.input.k"), store.takeInput()]).toEqual([false, undefined]);
  store.forget();
});

test("R6b: of the input beside a target that is not let go of in time, the length is left to tell", async () => {
  const { store, items } = tab(INPUT);
  const claimed = store.claim();
  await vi.advanceTimersByTimeAsync(5_000);
  expect([await claimed, store.takeInput()]).toEqual([undefined, { offset: undefined, length: 2 }]);
  expect([...items.keys()]).toEqual(["sbx.resume.k"]);
});

test("R6b: a tab that was duplicated does not wait for its target and keeps no input: the tab that has them says so", async () => {
  const locks = navigator.locks;
  const first = tabResumeStore("k", tab(INPUT).storage, locks);
  const second = tabResumeStore("k", tab(INPUT).storage, locks);
  expect([await first.claim(), await second.claim()]).toEqual(["r", undefined]);
  expect([second.takeInput(), first.takeInput()?.length]).toEqual([undefined, 2]);
  first.forget();
  const third = tabResumeStore("k", tab(undefined).storage, locks);
  expect(await third.claim()).toBe("r");
  third.forget();
});

test("R6b: a target of its own is kept with its input, whether or not its lock is given in time", async () => {
  const { store } = tab(undefined);
  store.keep("s");
  await vi.advanceTimersByTimeAsync(5_000);
  store.keepInput({ offset: 3, length: 1, bytes: new Uint8Array(1) });
  expect(store.takeInput()).toEqual({ offset: 3, length: 1, bytes: new Uint8Array(1) });
});

test("R6b: input that does not fit into what other panes have left of the storage is remembered by its length", async () => {
  const { store, release } = tab(undefined, 100);
  const claimed = store.claim();
  release();
  await claimed;
  store.keepInput({ offset: 3, length: 90, bytes: new Uint8Array(90) });
  expect(store.takeInput()).toEqual({ offset: 3, length: 90 });
});
