// What an attach waits for, one after another: each is a round trip to another object, and a person waits for all of them.
import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import { INNER_HELLO } from "../../packages/sandbox-stdio/test/hello.ts";
import { specOf } from "../src/attach/attach-spec.ts";
import { SandboxesInUse } from "../src/attach/sandboxes-in-use.ts";
import type { Env } from "../src/env.ts";
import { SessionObject } from "../src/objects/session-object.ts";
import { type SandboxObject, useContainers } from "../src/sandbox/containers.ts";
import { ask } from "./ask.ts";
import { attach } from "./attach.ts";
import { newRealm, ORIGIN } from "./auth/realm.ts";
import { GREETED_SETTINGS, greeting } from "./stand-in-bridge.ts";

const real = env as unknown as Env;
const SANDBOX = "0123456789abcdef";

afterEach(() => {
  vi.restoreAllMocks();
});

/** With a session's object whose container answers as it is told to. */
function withContainer(
  container: { isRunning(): Promise<boolean>; fetch(): Promise<Response> },
  run: (object: SessionObject) => Promise<void>,
): Promise<void> {
  useContainers(() => container);
  const stub = { isRunning: () => container.isRunning() };
  const Sandbox = { idFromName: (name: string) => real.Sandbox.idFromName(name), getByName: () => stub };
  const settings = {
    ...GREETED_SETTINGS,
    BRIDGE_URL: "",
    AUDIT: "off",
    Sandbox: Sandbox as unknown as DurableObjectNamespace<SandboxObject>,
  };
  return runInDurableObject(real.SESSION.getByName(crypto.randomUUID()), (_made, state) =>
    run(new SessionObject(state, { ...real, ...settings })),
  );
}

test("the bridge is asked without waiting for the container's object to say whether it runs", () =>
  withContainer(
    { isRunning: () => new Promise(() => undefined), fetch: async () => greeting().response },
    async (object) => {
      const client = await attach(object);
      expect(await client.next("hello")).toMatchObject({ type: "hello" });
    },
  ));

test("who waits for a container that does not run is told that it starts, before anything else", async () => {
  let start: () => void = () => undefined;
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const fetch = async () => {
    await started;
    return greeting().response;
  };
  await withContainer({ isRunning: async () => false, fetch }, async (object) => {
    const client = await attach(object);
    expect(await client.next("status")).toEqual({ type: "status", status: "starting" });
    start();
    await client.next("hello");
    expect(client.told.filter(({ type }) => type === "status" || type === "hello").map(({ type }) => type)).toEqual([
      "status",
      "hello",
    ]);
  });
});

test("a container whose object does not answer is told by what the bridge says, and leaves nothing unhandled", () =>
  withContainer(
    { isRunning: () => Promise.reject(new Error("the object was reset")), fetch: async () => greeting().response },
    async (object) => {
      const client = await attach(object);
      expect(await client.next("hello")).toMatchObject({ type: "hello" });
    },
  ));

describe("the session's object wakes while those of address and tenant are asked", () => {
  /** An upgrade; `agree` is what the tenant answers, when it does. */
  async function upgrade(realm = newRealm(), more: object = {}) {
    const happened: string[] = [];
    let agree: (answer: { kind: "admitted" | "revoked" }) => void = () => undefined;
    const agreed = new Promise((resolve) => {
      agree = resolve;
    });
    let woke: (sandboxKey: string | undefined) => void = () => undefined;
    const woken = new Promise<string | undefined>((resolve) => {
      woke = resolve;
    });
    const upgraded: (string | undefined)[] = [];
    const session = {
      wake: async (sandboxKey: string | undefined) => {
        happened.push("woken");
        woke(sandboxKey);
      },
      fetch: async (request: Request) => {
        happened.push("upgrade");
        upgraded.push(specOf(request)?.sandboxKey);
        return new Response();
      },
    };
    const object = (calls: object) => ({ getByName: () => calls, idFromName: (name: string) => name });
    const settings = {
      ...{ ...real, ...realm.env },
      SESSION: object(session),
      ADDRESS: object({ take: async () => true, giveBack: async () => happened.push("given back") }),
      TENANT: object({
        attempted: async () => {
          happened.push("counted");
          return { kind: "admitted" };
        },
        admit: () => agreed,
      }),
      ...more,
    };
    const Authorization = `Bearer ${await realm.sign({ scope: "sandbox:exec" })}`;
    const headers = { Authorization, Upgrade: "websocket", Origin: ORIGIN };
    return { answer: ask("/attach?sandbox=box&session=s", { headers }, settings), agree, woken, happened, upgraded };
  }

  test("and gets the upgrade once both have agreed", async () => {
    const { answer, agree, woken, happened } = await upgrade();
    await woken;
    expect(happened).toEqual(["woken"]);
    agree({ kind: "admitted" });
    await answer;
    expect(happened).toEqual(["woken", "upgrade"]);
  });

  test("H22: and is told the sandbox once somebody has been let in to it: a name alone makes no object for it", async () => {
    const realm = newRealm();
    const sandboxes: unknown[] = [];
    const refused = await upgrade(realm);
    sandboxes.push(await refused.woken);
    refused.agree({ kind: "revoked" });
    await refused.answer;
    const first = await upgrade(realm);
    sandboxes.push(await first.woken);
    first.agree({ kind: "admitted" });
    await first.answer;
    const second = await upgrade(realm);
    sandboxes.push(await second.woken);
    second.agree({ kind: "admitted" });
    await second.answer;
    expect(sandboxes).toEqual([undefined, undefined, second.upgraded[0]]);
    expect(second.upgraded).toEqual([expect.stringMatching(/^[0-9a-f]{60}$/)]);
  });

  test("and gets none where one refuses", async () => {
    const { answer, agree, woken, happened } = await upgrade();
    await woken;
    agree({ kind: "revoked" });
    expect((await answer).status).toBe(401);
    expect(happened).toEqual(["woken", "given back"]);
  });

  test("but not before it is known whose the sandbox is", async () => {
    const realm = newRealm();
    const { answer, happened } = await upgrade(realm, { PROJECT_SERVICE_URL: realm.issuer });
    expect((await answer).status).toBe(401);
    expect(happened).toEqual(["counted", "given back"]);

    await realm.set({ validate: { status: 200, body: { user_id: "u" } } });
    const owned = await upgrade(realm, { PROJECT_SERVICE_URL: realm.issuer });
    await owned.woken;
    expect(owned.happened).toEqual(["counted", "woken"]);
    owned.agree({ kind: "admitted" });
    await owned.answer;
    expect(owned.happened).toEqual(["counted", "woken", "upgrade"]);
  });
});

describe("H22: meanwhile a connection is opened, and nothing is asked on it", () => {
  /** A bridge that notes what it is asked, by request and by message. */
  function noting() {
    const asked: string[] = [];
    const answer = (path: string) => {
      asked.push(path);
      const pair = new WebSocketPair();
      const bridge = pair[1];
      bridge.accept();
      bridge.addEventListener("message", ({ data }) => {
        const { type } = JSON.parse(String(data)) as { type: string };
        asked.push(type);
        if (type === "begin") bridge.send(JSON.stringify(INNER_HELLO));
      });
      return new Response(null, { status: 101, webSocket: pair[0] });
    };
    vi.spyOn(globalThis, "fetch").mockImplementation(async (url) => answer(new URL(String(url)).pathname));
    return asked;
  }

  function withObject(run: (object: SessionObject, state: DurableObjectState) => Promise<void>): Promise<void> {
    const settings = { ...GREETED_SETTINGS, AUDIT: "off" };
    return runInDurableObject(real.SESSION.getByName(crypto.randomUUID()), (_made, state) =>
      run(new SessionObject(state, { ...real, ...settings }), state),
    );
  }

  test("until a client has been let in, whose attach is asked for there", () =>
    withObject(async (object) => {
      const asked = noting();
      await object.wake(SANDBOX);
      await expect.poll(() => asked).toEqual(["/preconnect"]);
      const client = await attach(object);
      await client.next("hello");
      expect(asked.slice(0, 2)).toEqual(["/preconnect", "begin"]);
      // It has its hop: who comes now opens none.
      await object.wake(SANDBOX);
      await attach(object);
      expect(asked).not.toContain("/attach");
      expect(asked.filter((what) => what === "/preconnect")).toHaveLength(1);
    }));

  test("a session that is known has its sandbox; none is opened without one, or where the process has ended", async () => {
    await withObject(async (object) => {
      const asked = noting();
      await object.wake();
      expect(asked).toEqual([]);
    });
    await withObject(async (made, state) => {
      noting();
      await made.wake(SANDBOX);
      const client = await attach(made);
      await client.next("hello");
      const record = state.storage.kv.get<object>("session");
      expect(record).toBeDefined();
      state.storage.kv.put("session", { ...record, exit: { code: 0 } });
      const asked = noting();
      await new SessionObject(state, { ...real, ...GREETED_SETTINGS }).wake(SANDBOX);
      expect(asked).toEqual([]);
      state.storage.kv.put("session", { ...record });
      await new SessionObject(state, { ...real, ...GREETED_SETTINGS }).wake();
      await expect.poll(() => asked).toEqual(["/preconnect"]);
    });
  });
});

test("H22a: of the sandboxes in use the oldest are forgotten", () => {
  const inUse = new SandboxesInUse(2);
  for (const name of ["a", "b", "a", "c"]) inUse.add(name);
  expect(["a", "b", "c"].map((name) => inUse.has(name))).toEqual([true, false, true]);
});
