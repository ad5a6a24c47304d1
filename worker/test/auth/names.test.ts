// Names: which ones clients may give, and that no two tenants, sandboxes or sessions share a qualified one.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkName, sandboxKey, sessionKey, type Tenant } from "../../src/auth/names.ts";
import { faultOf } from "./realm.ts";

const ALICE: Tenant = { issuer: "https://id.org.ai", tenantClaim: "sub", tenantValue: "alice" };

describe("names that a client gives", () => {
  test.each(["a", "default", "user-123", "A.b_c-9", "_", "0", "x".repeat(64)])("%j is one", (name) => {
    expect(checkName("sandbox", name)).toBe(name);
  });

  const wrong = [
    "",
    "x".repeat(65),
    "-rf",
    ".",
    "..",
    ".hidden",
    "a/b",
    "a\\b",
    "../a",
    "a b",
    "a\n",
    "a\0",
    "é",
    "😀",
    "a%2fb",
    "a:b",
    "a;b",
  ];
  test.each(wrong)("%j is none, neither of a sandbox nor of a session", async (name) => {
    expect(await faultOf(() => checkName("session", name))).toBe("bad_name");
    expect(await faultOf(() => sandboxKey(ALICE, name))).toBe("bad_name");
    expect(await faultOf(() => sessionKey(ALICE, "dev", name))).toBe("bad_name");
    expect(await faultOf(() => sessionKey(ALICE, name, "build"))).toBe("bad_name");
  });
});

describe("qualified names", () => {
  test("are pinned: what is stored under them must be found again", async () => {
    // printf '%s' '["https://id.org.ai","sub","alice","dev"]' | sha256sum | cut -c-60
    expect(await sandboxKey(ALICE, "dev")).toBe("6e06140e216c77f82dd7462019b6aec51087801210afd3b987557c0bafdb");
    // printf '%s' '["https://id.org.ai","sub","alice","dev","build"]' | sha256sum | cut -c-60
    expect(await sessionKey(ALICE, "dev", "build")).toBe(
      "021632f4e304bb75fe4b89ffe10572a508647f18f698d30de0f9e1491c46",
    );
  });

  test("each part makes a difference", async () => {
    const keys = await Promise.all([
      sandboxKey(ALICE, "dev"),
      sandboxKey({ ...ALICE, issuer: "https://oauth.example" }, "dev"),
      sandboxKey({ ...ALICE, tenantClaim: "org_id" }, "dev"),
      sandboxKey({ ...ALICE, tenantValue: "Alice" }, "dev"),
      sandboxKey(ALICE, "Dev"),
      sessionKey(ALICE, "dev", "build"),
      sessionKey(ALICE, "dev", "Build"),
      sessionKey(ALICE, "build", "dev"),
    ]);
    expect(new Set(keys).size).toBe(8);
  });

  test("no value of a tenant reaches over into another's: different parts, different keys", async () => {
    // Few characters, and those that separate or quote: two places that read alike when joined are common.
    const part = fc.string({ unit: fc.constantFrom("a", '"', ",", "[", "]", "\\", "\ud800"), maxLength: 4 });
    const name = fc.stringMatching(/^[ab][.a]?$/);
    const place = fc.tuple(part, part, name, fc.option(name));
    const keyOf = ([issuer, tenantValue, sandbox, session]: [string, string, string, string | null]) => {
      const tenant: Tenant = { issuer, tenantClaim: "sub", tenantValue };
      return session === null ? sandboxKey(tenant, sandbox) : sessionKey(tenant, sandbox, session);
    };
    const seed = Date.now() % 2 ** 31; // fast-check prints it when the property fails
    await fc.assert(
      fc.asyncProperty(place, place, async (one, other) => {
        const isSame = one.every((value, i) => value === other[i]);
        const keys = await Promise.all([keyOf(one), keyOf(other)]);
        expect(keys[0] === keys[1]).toBe(isSame);
        expect(keys[0]).toMatch(/^[0-9a-f]{60}$/);
      }),
      { seed, numRuns: 500 },
    );
  });
});
