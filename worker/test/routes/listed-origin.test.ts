// Where a list of origins is set, the JSON gateway asks each upgrade where it comes from, and a page on it may use the
// login's cookie there; the other routes do neither.
import { describe, expect, test } from "vitest";
import { beginSession } from "../../src/auth/session.ts";
import { readAuthSettings } from "../../src/auth/settings.ts";
import { newRealm, ORIGIN } from "../auth/realm.ts";
import { ask } from "../support/ask.ts";

const GATEWAY = "/sandbox/terminal?sessionId=dev";

async function answer(path: string, origin: string | undefined, list: string): Promise<[number, string]> {
  const { env } = newRealm();
  const headers = { Upgrade: "websocket", ...(origin === undefined ? {} : { Origin: origin }) };
  const response = await ask(path, { headers }, { ...env, ALLOWED_ORIGINS: list });
  const { error } = (await response.json()) as { error: string };
  return [response.status, error];
}

describe("with the list https://ide.example, https://app.example", () => {
  const LIST = "https://ide.example, https://app.example";

  test.each(["https://ide.example", "https://app.example"])("%s is let through to the token", async (origin) => {
    expect(await answer(GATEWAY, origin, LIST)).toEqual([401, "no_token"]);
  });

  test.each([
    "https://evil.example",
    "https://ide.example:8443",
    "http://ide.example",
    "https://ide.example.evil.example",
    "null",
    "",
    undefined,
  ])("%j is refused with 403, before anything else is asked", async (origin) => {
    expect(await answer(GATEWAY, origin, LIST)).toEqual([403, "bad_origin"]);
  });

  test("the other routes ask for no origin", async () => {
    for (const path of ["/attach", "/ws/terminal?id=dev", "/v1/sandboxes/dev/exec/pty"]) {
      expect(await answer(path, "https://evil.example", LIST)).toEqual([401, "no_token"]);
    }
  });
});

describe("with the login's cookie and the list https://ide.example", () => {
  const LIST = `https://ide.example, ${ORIGIN}`;
  /** How an upgrade is answered that brings the cookie of somebody without any scope: after it has been believed. */
  async function byCookie(path: string, origin: string | undefined, list = LIST): Promise<[number, string]> {
    const realm = newRealm();
    const accessToken = await realm.sign({ scope: "openid" });
    const env = { ...realm.env, DEFAULT_SCOPES: "", ALLOWED_ORIGINS: list };
    const settings = readAuthSettings(env);
    const session = { userId: "alice", accessToken, expiresAt: Date.now() + 600_000 };
    const cookie = (await beginSession(session, settings)).split(";")[0] ?? "";
    const headers = {
      Upgrade: "websocket",
      Cookie: cookie,
      ...(origin === undefined ? {} : { Origin: origin }),
    };
    const response = await ask(path, { headers }, env);
    const { error } = (await response.json()) as { error: string };
    return [response.status, error];
  }

  test.each(["https://ide.example", ORIGIN])("a page on %s may attach at the gateway", async (origin) => {
    expect(await byCookie(GATEWAY, origin)).toEqual([403, "insufficient_scope"]);
  });

  test.each([
    [GATEWAY, "https://evil.example"],
    [GATEWAY, undefined],
    ["/attach", "https://ide.example"],
    ["/ws/terminal?id=dev", "https://ide.example"],
    ["/v1/sandboxes/dev/exec/pty", "https://ide.example"],
    ["/v1/sandboxes/dev/exec/pty/shared", "https://ide.example"],
    ["/terminal/dev", "https://ide.example"],
  ])("%s is closed to a page on %s", async (path, origin) => {
    expect(await byCookie(path, origin)).toEqual([403, "bad_origin"]);
  });

  test("without a list the gateway is open to our own page alone", async () => {
    expect(await byCookie(GATEWAY, "https://ide.example", "")).toEqual([403, "bad_origin"]);
    expect(await byCookie(GATEWAY, ORIGIN, "")).toEqual([403, "insufficient_scope"]);
  });
});

test("without a list any origin is let through to the token, and none too", async () => {
  for (const origin of ["https://evil.example", undefined]) {
    expect(await answer(GATEWAY, origin, "")).toEqual([401, "no_token"]);
  }
});

test("a list that holds what is no origin lets nobody in, and names the setting", async () => {
  expect(await answer(GATEWAY, "https://ide.example", "https://ide.example/")).toEqual([503, "misconfigured"]);
});
