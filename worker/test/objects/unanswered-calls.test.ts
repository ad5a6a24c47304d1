// Calls while the way to the bridge is a black hole: each is answered about when its caller wished, and none is typed behind its back.
import { env } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";
import { untilAnswered } from "../../src/programs/ask.ts";
import {
  type Operation,
  type ProgramAnswer,
  refused,
  requestOf,
  unpackAnswer,
} from "../../src/programs/operations/call.ts";
import { giveClock } from "../support/given-clock.ts";
import { Bridge, LIMIT, open, PARKING_SETTINGS as SETTINGS } from "../support/line-bridge.ts";

const real = env as unknown as Env & Record<string, string>;
const before = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, real[name]]));
const clock = giveClock();
const NEVER = new AbortController().signal;

beforeEach(() => void Object.assign(real, SETTINGS));

afterEach(() => {
  Object.assign(real, before);
  vi.restoreAllMocks();
});

class Called {
  readonly stub = real.SESSION.getByName(crypto.randomUUID()) as unknown as DurableObjectStub<SessionObject>;
  readonly bridge = new Bridge(this.stub);

  async call(operation: Operation, signal = NEVER): Promise<ProgramAnswer> {
    const own = { persons: [{ subject: "alice" }], tokenIds: [] };
    const may = { mayExec: true, isAdmin: false, mayCreate: true };
    const call = {
      ...{ sandboxKey: "0123456789abcdef", sandbox: "dev", session: "s", mayStart: true, operation },
      who: {
        subject: "alice",
        name: "alice",
        isGuest: false,
        ...may,
        ...own,
        own,
        origin: "",
        expiresAtMs: Date.now() + 7_200_000,
      },
      actor: { tenant: "t", user: "alice", address: "" },
      pass: { connection: crypto.randomUUID(), address: "unknown", homeKey: "home" },
    };
    return unpackAnswer(await this.stub.fetch(requestOf(call, signal)));
  }

  write(bytes: string, at: number): Promise<ProgramAnswer> {
    return this.call({ type: "write", writer: "api", bytes, at, waitMs: 1_000 });
  }

  run(signal?: AbortSignal): Promise<ProgramAnswer> {
    const how = { keepExited: 600, stdin: "", isStdinEnded: true, isAwaited: false };
    const wish = {
      cmd: "sh",
      args: [],
      env: [],
      tty: false,
      keep: 0,
      mode: "collaborative",
      delivery: "live",
    } as const;
    const process = { wish, ...how };
    return this.call({ type: "run", process, hasInput: false, saysInput: false, waitMs: 0, maxBytes: 100 }, signal);
  }
}

const told = async (answer: Promise<ProgramAnswer>) => (await answer).body.error ?? (await answer).status;

/** How many timers run that are a write's patience: the caller's, and that for what was not sent. */
const patienceOf = () => clock.timers.filter((ms) => ms > 8_500 && ms <= 10_000).length;

test("W2: a write that the bridge leaves unanswered is answered 503, and those behind it are not typed any more", async () => {
  const at = new Called();
  const client = await open(at.stub, "stdio");
  at.bridge.goDeaf();
  const sent = at.write("sent\n", 0);
  await expect.poll(() => patienceOf(), LIMIT).toBe(2);
  const behind = at.write("behind\n", 5);
  await expect.poll(() => patienceOf(), LIMIT).toBe(3);
  clock.putForward(10_001);
  expect([await told(sent), await told(behind)]).toEqual(["unavailable", "unavailable"]);
  await at.bridge.hearAgain();
  expect((await at.write("sent\n", 0)).body).toMatchObject({ from: 0, to: 5, duplicate: true });
  expect(at.bridge.typed).toBe("sent\n");
  client.close();
});

test("R4: a call at a session that nobody follows ends about when its caller wished, whatever the bridge does", async () => {
  const at = new Called();
  (await open(at.stub, "stdio")).close();
  await expect.poll(() => at.bridge.inner, LIMIT).toBeUndefined();
  at.bridge.goDeaf();
  const written = at.write("x", 0);
  await expect.poll(() => at.bridge.unanswered, LIMIT).toEqual(["/attach"]);
  clock.putForward(11_001);
  expect(await told(written)).toBe("unavailable");
});

test("U4: a start that hangs is given up after 40 s, and one whose caller has gone holds nobody up", async () => {
  const at = new Called();
  at.bridge.goDeaf();
  const gone = new AbortController();
  const first = at.run();
  await expect.poll(() => at.bridge.unanswered, LIMIT).toEqual(["/sessions"]);
  const second = at.run(gone.signal).catch(() => undefined);
  // Answered at once, so both are in line by then.
  const third = at.run();
  expect((await at.call({ type: "locate" })).status).toBe(404);
  gone.abort();
  await second;
  clock.putForward(40_001);
  expect(await told(first)).toBe("unavailable");
  await expect.poll(() => at.bridge.unanswered, LIMIT).toEqual(["/sessions", "/sessions"]);
  clock.putForward(40_001);
  expect(await told(third)).toBe("unavailable");
});

test("a question is not repeated when its caller's time has long been over", async () => {
  let asked = 0;
  const unreached = async () => {
    asked += 1;
    clock.putForward(4_000);
    return refused(503, "unavailable", "");
  };
  expect((await untilAnswered({ signal: NEVER }, unreached, 1_000)).status).toBe(503);
  expect(asked).toBe(2);
});
