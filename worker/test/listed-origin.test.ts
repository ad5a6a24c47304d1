// Where a list of origins is set, the JSON gateway asks each upgrade where it comes from; the other routes do not.
import { describe, expect, test } from "vitest";
import worker from "../src/index.ts";
import { newRealm, ORIGIN } from "./auth/realm.ts";

const GATEWAY = "/sandbox/terminal?sessionId=dev";

async function answer(path: string, origin: string | undefined, list: string): Promise<[number, string]> {
  const { env } = newRealm();
  const headers = { Upgrade: "websocket", ...(origin === undefined ? {} : { Origin: origin }) };
  const response = await worker.request(`${ORIGIN}${path}`, { headers }, { ...env, ALLOWED_ORIGINS: list });
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

test("without a list any origin is let through to the token, and none too", async () => {
  for (const origin of ["https://evil.example", undefined]) {
    expect(await answer(GATEWAY, origin, "")).toEqual([401, "no_token"]);
  }
});

test("a list that holds what is no origin lets nobody in, and names the setting", async () => {
  expect(await answer(GATEWAY, "https://ide.example", "https://ide.example/")).toEqual([503, "misconfigured"]);
});
