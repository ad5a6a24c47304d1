// When a session's object looks at its terminal, for the case that the container dies (X7), with a clock in the test's hands.
import { type InnerClient, OutputLog, type Question, type RelaySession } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { LastLooks } from "../../src/session/last-looks.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A terminal's session, and a bridge that answers when it is told to. */
function terminal(tty = true) {
  const log = new OutputLog({ cols: 80, rows: 24 });
  const session = { facts: { tty }, log, hasEnded: false } as unknown as RelaySession;
  const asked: { question: Question; answer: (json: Uint8Array | undefined) => void }[] = [];
  const ask = (question: Question) => {
    const { promise, resolve } = deferred<Uint8Array | undefined>();
    asked.push({ question, answer: resolve });
    return { answer: promise, forget: () => resolve(undefined) };
  };
  const kept: string[] = [];
  let looked = deferred<void>();
  const hop = { isOpen: true, client: { ask } as unknown as InnerClient };
  const keep = (name: string, json: Uint8Array) => kept.push(`${name} ${new TextDecoder().decode(json)}`);
  const looks = new LastLooks(
    () => session,
    hop,
    { keep },
    () => looked.resolve(),
  );
  /** Answers what is asked. */
  const answered = async (text: string) => {
    for (const { question, answer } of asked.splice(0)) answer(bytes(`${question.about} ${text}`));
    await looked.promise;
    looked = deferred<void>();
  };
  return { session, log, looks, asked, kept, answered };
}

test("X7: while there is output the screen is asked for every 5 s, and not while there is none", async () => {
  const { log, looks, asked, kept, answered } = terminal();
  log.append(bytes("one"), 1);
  looks.tick(0);
  expect(asked.map(({ question }) => question.about)).toEqual(["screen", "commands"]);
  expect(looks.nextTickMs()).toBe(Number.POSITIVE_INFINITY);
  await answered("1");
  expect(looks.nextTickMs()).toBe(Number.POSITIVE_INFINITY);
  log.append(bytes("two"), 1);
  expect(looks.nextTickMs()).toBe(5_000);
  looks.tick(4_999);
  expect(asked).toEqual([]);
  looks.tick(5_000);
  expect(asked.length).toBe(2);
  await answered("2");
  looks.store();
  expect(kept).toEqual(["screen screen 2", "commands commands 2"]);
});

test("X7: the first look waits for the first output, or 5 s, and comes at once with that output", async () => {
  const { log, looks, asked, answered } = terminal();
  looks.tick(0);
  expect([asked.length, looks.nextTickMs()]).toEqual([0, 5_000]);
  log.append(bytes("a prompt"), 1);
  looks.tick(20);
  expect(asked.length).toBe(2);
  await answered("a prompt");
  log.append(bytes("more"), 1);
  expect(looks.nextTickMs()).toBe(5_020);
});

test("X7: a silent terminal is looked at once after 5 s, and again as soon as it says something", async () => {
  const { log, looks, asked, kept, answered } = terminal();
  looks.tick(0);
  looks.tick(5_000);
  expect(asked.length).toBe(2);
  await answered("nothing");
  looks.store();
  expect(kept).toEqual(["screen screen nothing", "commands commands nothing"]);
  expect(looks.nextTickMs()).toBe(Number.POSITIVE_INFINITY);
  log.append(bytes("a prompt"), 1);
  looks.tick(5_020);
  expect(asked.length).toBe(2);
});

test("X7: before the bridge is let go of, it is asked once more, and waited for though it may not answer", async () => {
  const { session, log, looks, asked, answered } = terminal();
  log.append(bytes("one"), 1);
  looks.tick(0);
  await answered("1");
  expect(looks.isDone(session, 1)).toBe(true);
  log.append(bytes("two"), 1);
  expect(looks.isDone(session, 2)).toBe(false);
  expect(looks.isDone(session, 3)).toBe(false);
  for (const { answer } of asked.splice(0)) answer(undefined);
  await answered("never");
  expect(looks.isDone(session, 4)).toBe(true);
});

test("X7: pipes have no screen to be asked for", () => {
  const { session, log, looks, asked } = terminal(false);
  log.append(bytes("one"), 1);
  looks.tick(0);
  expect([looks.isDone(session, 0), asked]).toEqual([true, []]);
});
