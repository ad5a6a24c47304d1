// The way to authenticate that another Worker gives: which pages may use its logins, what becomes of its answers, and how it names
// containers.

import { env } from "cloudflare:workers";
import { getSandbox } from "@cloudflare/sandbox";
import { afterEach, describe, expect, test } from "vitest";
import { sandboxKey, sessionKey, tenantKey, useSandboxIds } from "../../src/auth/names.ts";
import { ownProvider, type StdioIdentity, type StdioRefusal } from "../../src/auth/own-provider.ts";
import type { Env } from "../../src/env.ts";
import { AuthFault } from "../../src/refusal/fault.ts";

const ORIGIN = "https://own.example";
const SETTINGS = { PUBLIC_ORIGIN: ORIGIN, SESSION_SECRET: "s".repeat(32), ALLOWED_ORIGINS: "https://partner.example" };
const seen: Request[] = [];
const wayOf = (answer: StdioIdentity | StdioRefusal | undefined) =>
  ownProvider(
    (request) => {
      seen.push(request);
      return answer;
    },
    (given) => given,
  );
const ANN = { subject: "ann" };

function attach(headers: Record<string, string> = {}): Request {
  return new Request(`${ORIGIN}/attach`, { headers: { Upgrade: "websocket", ...headers } });
}

async function fault(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AuthFault);
  return error instanceof AuthFault ? error.code : "";
}

describe("which pages may use the Worker's logins", () => {
  test.each([ORIGIN, "https://partner.example"])("a page of %s may, as one that a cookie lets in", async (page) => {
    const { source } = await wayOf(ANN).authenticate(attach({ Origin: page }), SETTINGS);
    expect(source).toBe("cookie");
  });

  test.each<Record<string, string>>([
    { Origin: "https://elsewhere.example" },
    { Origin: "null" },
    { Origin: `${ORIGIN}.elsewhere.example` },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { Origin: "https://elsewhere.example", Authorization: "Bearer token" },
  ])("a page with %o may not, and the Worker is not asked", async (headers) => {
    seen.length = 0;
    expect(await fault(wayOf(ANN).authenticate(attach(headers), SETTINGS))).toBe("bad_origin");
    expect(seen).toEqual([]);
  });

  test("a program, which says no origin, may", async () => {
    expect((await wayOf(ANN).authenticate(attach(), SETTINGS)).source).toBe("authorization");
  });

  test("a host that is not on the list is refused before anything is asked", async () => {
    seen.length = 0;
    const request = new Request("https://rebound.example/attach", { headers: { Upgrade: "websocket" } });
    expect(await fault(wayOf(ANN).authenticate(request, SETTINGS))).toBe("bad_host");
    expect(seen).toEqual([]);
  });
});

describe("what the Worker is shown, and what its answer means", () => {
  test("a token that came as a subprotocol is in the Authorization header, on an upgrade and on a living connection", async () => {
    const protocols = { "Sec-WebSocket-Protocol": "stdio.v1, bearer.a-token" };
    await wayOf(ANN).authenticate(attach(protocols), SETTINGS);
    expect(seen.at(-1)?.headers.get("Authorization")).toBe("Bearer a-token");
    await wayOf(ANN).verify("fresh", SETTINGS);
    expect(seen.at(-1)?.headers.get("Authorization")).toBe("Bearer fresh");
  });

  test("a user has exec, ends within half a day, and shares with nobody, unless the Worker says so", async () => {
    const { identity } = await wayOf(ANN).authenticate(attach(), SETTINGS);
    expect(identity).toMatchObject({ subject: "ann", tenantClaim: "sub", tenantValue: "ann" });
    expect([...identity.scopes].sort()).toEqual(["sandbox:connect", "sandbox:exec"]);
    expect(identity.expiresAt * 1000 - Date.now()).toBeLessThanOrEqual(12 * 3_600_000);
    const expires = new Date(Date.now() + 60_000);
    const team = { subject: "ann", tenant: "ann", scopes: ["connect"], expires } as const;
    const other = (await wayOf(team).authenticate(attach(), SETTINGS)).identity;
    expect([...other.scopes]).toEqual(["sandbox:connect"]);
    expect(other.expiresAt).toBe(Math.floor(expires.getTime() / 1000));
    expect(await tenantKey(other)).not.toBe(await tenantKey(identity));
  });

  test.each([
    ["nobody", undefined, "no_token"],
    ["a refusal", { refused: "no" }, "inactive"],
    ["a user who may not", { refused: "no", status: 403 }, "not_allowed"],
    ["a login that has ended", { ...ANN, expires: new Date(0) }, "expired"],
    ["a user without an id", { subject: "" }, "missing_claim"],
    ["a user with no scope", { ...ANN, scopes: [] }, "insufficient_scope"],
  ] as const)("%s does not come in", async (_, answer, code) => {
    expect(await fault(wayOf(answer).authenticate(attach(), SETTINGS))).toBe(code);
  });
});

describe("how containers are named", () => {
  afterEach(() => useSandboxIds(undefined));
  const tenant = { issuer: "i", tenantClaim: "sub", tenantValue: "ann" } as const;

  test("getSandbox() with the id that the Worker chose is the object whose container has the sessions", async () => {
    useSandboxIds(({ tenant: owner, name }) => `${owner}--${name}`);
    const { Sandbox } = env as unknown as Env;
    const theirs = getSandbox(Sandbox as never, "ann--dev") as unknown as { id: DurableObjectId };
    expect(Sandbox.idFromName(await sandboxKey(tenant, "dev")).equals(theirs.id)).toBe(true);
  });

  test("tenants who are given one id share its sessions; others do not", async () => {
    useSandboxIds(({ name }) => `shared-${name}`);
    const ben = { ...tenant, tenantValue: "ben" };
    expect(await sessionKey(ben, "dev", "s")).toBe(await sessionKey(tenant, "dev", "s"));
    expect(await sessionKey(ben, "dev", "s")).not.toBe(await sessionKey(ben, "other", "s"));
  });

  test.each(["", "-a", "a-", "a b", "a/b", "x".repeat(64)])("the id %j is no id", async (id) => {
    useSandboxIds(() => id);
    expect(await fault(sandboxKey(tenant, "dev"))).toBe("misconfigured");
  });
});
