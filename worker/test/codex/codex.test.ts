// The parts of codex' exec-server in the Worker that time and policy decide about.
import { env as given, runInDurableObject } from "cloudflare:test";
import { CodexError } from "sandbox-stdio/codex";
import { expect, test } from "vitest";
import type { CodexPlace, CodexSpec } from "../../src/attach/codex-spec.ts";
import { sessionKey } from "../../src/auth/names.ts";
import { CodexFiles } from "../../src/codex/files.ts";
import { CodexHub, type CodexPorts } from "../../src/codex/hub.ts";
import { nameOf } from "../../src/codex/process-calls.ts";
import type { Env } from "../../src/env.ts";
import { CodexStore } from "../../src/records/codex-store.ts";
import { STDIO_TOKEN } from "../support/secret.ts";

const env = given as unknown as Env;
const DAY_MS = 24 * 60 * 60_000;
// What is asked of these parts needs no more of it.
const SPEC = { sandbox: "dev", who: { isAdmin: false } } as unknown as CodexSpec;

const PLACE: CodexPlace = {
  tenant: { issuer: "https://issuer", tenantClaim: "org_id", tenantValue: "org" },
  sandbox: "dev",
  user: undefined,
  actor: { tenant: "org", user: "me", address: "" },
};

test("E2: a day after its last connection a session's processes are ended, in its client's name", async () => {
  const stub = env.SESSION.getByName(crypto.randomUUID());
  await runInDurableObject(stub, async (_, { storage }) => {
    const ended: [string, unknown][] = [];
    const SESSION = { getByName: (key: string) => ({ end: async (by: unknown) => void ended.push([key, by]) }) };
    // The hub asks no more of its surroundings for this.
    const hub = new CodexHub({ env: { SESSION }, storage } as unknown as CodexPorts);
    const store = new CodexStore(storage);
    store.make({ id: "a", person: "me", surroundings: "{}", place: PLACE }, 1_000);
    const process = { isTty: true, hasInput: true, sent: 0, isClosed: false };
    store.add("a", { processId: "p", name: "codex-1", ...process });
    store.add("a", { processId: "q", name: "codex-2", ...process });
    store.sent("a", "q", 5, true);
    await hub.tick(DAY_MS + 999);
    expect([ended, hub.dueMs]).toEqual([[], DAY_MS + 1_000]);
    await hub.tick(DAY_MS + 1_000);
    expect(ended).toEqual([[await sessionKey(PLACE.tenant, "dev", "codex-1"), PLACE.actor]]);
    expect(hub.dueMs).toBe(Number.POSITIVE_INFINITY);
  });
});

test("E2: a session is its person's, for a day after it was last seen, and its processes go with it", async () => {
  const stub = env.SESSION.getByName(crypto.randomUUID());
  await runInDurableObject(stub, (_, { storage }) => {
    const store = new CodexStore(storage);
    expect([store.dueMs, store.has({ id: "a", person: "me" }, 0), store.expired(9e12)]).toEqual([
      Number.POSITIVE_INFINITY,
      false,
      [],
    ]);
    store.make({ id: "a", person: "me", surroundings: "{}", place: PLACE }, 1_000);
    store.add("a", { processId: "p", name: "codex-1", isTty: true, hasInput: true, sent: 0, isClosed: false });
    store.sent("a", "p", 7, false);
    store.sent("a", "p", 3, false);
    expect(store.process("a", "p")).toMatchObject({ sent: 7, isClosed: false });
    // As a later life of the object finds it.
    const later = new CodexStore(storage);
    expect([later.has({ id: "a", person: "me" }, DAY_MS), later.has({ id: "a", person: "you" }, DAY_MS)]).toEqual([
      true,
      false,
    ]);
    later.seen("a", 5_000);
    expect([later.dueMs, later.expired(DAY_MS + 4_999), later.runningCount("a")]).toEqual([DAY_MS + 5_000, [], 1]);
    expect([later.expired(DAY_MS + 5_000), later.has({ id: "a", person: "me" }, DAY_MS + 5_000)]).toEqual([
      ["a"],
      false,
    ]);
    expect(later.place("a")).toEqual(PLACE);
    later.forget("a");
    expect([later.processes("a"), later.dueMs]).toEqual([[], Number.POSITIVE_INFINITY]);
  });
});

test("E3: the name of a process's session is made of the session's id and the process's", () => {
  const name = nameOf("0".repeat(32), "p");
  expect(name).toMatch(/^codex-[0-9a-f]{20}$/);
  expect(nameOf("1".repeat(32), "p")).not.toBe(name);
});

test("E6: with COMMAND_ALLOW reading and writing need entries of their own", async () => {
  const path = "file:///tmp/a";
  const outcome = async (allowed: string, method: string) => {
    // Nothing answers there: what is let through fails otherwise.
    const bridge = { BRIDGE_URL: "http://127.0.0.1:9", STDIO_TOKEN };
    const files = new CodexFiles({ ...env, ...bridge, COMMAND_ALLOW: allowed }, undefined);
    const error: unknown = await files.request(SPEC, "s", method, { path, dataBase64: "" }).catch((one) => one);
    return error instanceof CodexError ? error.message : error;
  };
  const refused = expect.stringContaining("is not among those that may be");
  const reached = expect.stringContaining("can't be reached");
  expect(await outcome("bash", "fs/readFile")).toEqual(refused);
  expect(await outcome("bash, fs:read", "fs/readFile")).toEqual(reached);
  expect(await outcome("bash, fs:read", "fs/writeFile")).toEqual(refused);
  expect(await outcome("bash, fs:write", "fs/remove")).toEqual(reached);
  expect(await outcome("", "fs/writeFile")).toEqual(reached);
});
