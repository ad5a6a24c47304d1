// Who may call a session object: a bridge that shows its secret.

import { env } from "cloudflare:test";
import { hash } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import type { Env } from "../../src/env.ts";
import { answerContainer, BELL_PATH, bellRoutes } from "../../src/sandbox/bell.ts";
import { containerToken } from "../../src/sandbox/secret.ts";
import { GREETED_SETTINGS } from "../support/stand-in-bridge.ts";

const real = { ...(env as unknown as Env), ...GREETED_SETTINGS };
const session = "0123456789ab".repeat(5);
const body = JSON.stringify({ session, incarnation: "i1" });

afterEach(() => vi.restoreAllMocks());

const call = (token: string, text = body) => ({
  method: "POST",
  headers: { Authorization: `Bearer ${token}` },
  body: text,
});

/** Notes which sessions' objects are called. */
function watchCalls() {
  const called: string[] = [];
  const getByName = (name: string) => ({
    called: async (incarnation: string) => void called.push(`${name} ${incarnation}`),
  });
  return { called, watched: { ...real, SESSION: { getByName } as unknown as Env["SESSION"] } };
}

test("H20b: without the bridge's secret nobody calls a session object, and what can't be read calls none", async () => {
  const { called, watched } = watchCalls();
  const ask = async (init: RequestInit, settings = watched) =>
    (await bellRoutes.request(BELL_PATH, init, settings)).status;
  expect(await ask(call("a guess of 16 and more"))).toBe(401);
  expect(await ask({ method: "POST", body })).toBe(401);
  expect(await ask(call("a guess of 16 and more", "{}"))).toBe(401);
  // A call for nobody: the bridge looks whether its calls come here.
  expect(await ask(call(GREETED_SETTINGS.STDIO_TOKEN, "{}"))).toBe(204);
  expect(await ask(call(hash("sha256", `bell ${GREETED_SETTINGS.STDIO_TOKEN}`), "{}"))).toBe(204);
  for (const text of ["", "[]", '{"session":"main","incarnation":"i1"}', "x".repeat(2_000)])
    expect(await ask(call(GREETED_SETTINGS.STDIO_TOKEN, text))).toBe(400);
  // Where bridges are in containers nobody calls from outside.
  expect(await ask(call(GREETED_SETTINGS.STDIO_TOKEN), { ...watched, BRIDGE_URL: "" })).toBe(404);
  expect(called).toEqual([]);
  expect(await ask(call(GREETED_SETTINGS.STDIO_TOKEN))).toBe(200);
  expect(called).toEqual([`${session} i1`]);
});

test("H20b: a container calls with its own secret, and not with another's", async () => {
  const { called, watched } = watchCalls();
  const ask = async (token: string) =>
    (await answerContainer(new Request("http://bell/", call(token)), watched, "one")).status;
  expect(await ask(await containerToken(real, "other"))).toBe(401);
  expect(await ask(GREETED_SETTINGS.STDIO_TOKEN)).toBe(401);
  expect(called).toEqual([]);
  expect(await ask(await containerToken(real, "one"))).toBe(200);
  expect(called).toEqual([`${session} i1`]);
});
