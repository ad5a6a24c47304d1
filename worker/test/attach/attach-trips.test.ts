// What an attach waits for, one after another: each is a round trip to another object, and a person waits for all of them.
import { env, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { SessionObject } from "../../src/objects/session-object.ts";
import { type SandboxObject, useContainers } from "../../src/sandbox/containers.ts";
import { newRealm, ORIGIN } from "../auth/realm.ts";
import { ask } from "../support/ask.ts";
import { attach } from "../support/attach.ts";
import { GREETED_SETTINGS, greeting } from "../support/stand-in-bridge.ts";

const real = env as unknown as Env;

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
    let woke: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => {
      woke = resolve;
    });
    const session = {
      wake: async () => {
        happened.push("woken");
        woke();
      },
      fetch: async () => {
        happened.push("upgrade");
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
    return { answer: ask("/attach?sandbox=box&session=s", { headers }, settings), agree, woken, happened };
  }

  test("and gets the upgrade once both have agreed", async () => {
    const { answer, agree, woken, happened } = await upgrade();
    await woken;
    expect(happened).toEqual(["woken"]);
    agree({ kind: "admitted" });
    await answer;
    expect(happened).toEqual(["woken", "upgrade"]);
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
