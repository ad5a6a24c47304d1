// Claims to identity: tenants, scopes and what is shown of a person.
import { attachParams, parseAttachQuery } from "sandbox-stdio/core";
import { describe, expect, test } from "vitest";
import { displayName } from "../../src/attach/grant.ts";
import { ResumeSigner } from "../../src/attach/resume.ts";
import {
  type IdentityOptions,
  identityFrom,
  MAX_TOKEN_SECONDS,
  requireScope,
  SANDBOX_SCOPES,
} from "../../src/auth/identity.ts";
import { verifyToken } from "../../src/auth/verify-token.ts";
import { faultOf, newRealm, seconds } from "./realm.ts";

const OPTIONS: IdentityOptions = { issuer: "https://issuer.example" };
const CLAIMS = { sub: "alice", exp: 2_000_000_000 };

function scopesOf(scope: unknown, defaultScopes: readonly string[] = []): string[] {
  return [...identityFrom({ ...CLAIMS, scope }, { ...OPTIONS, defaultScopes }).scopes].sort();
}

describe("tenant", () => {
  test("is the subject where no other claim is set", () => {
    const { tenantClaim, tenantValue } = identityFrom({ ...CLAIMS, org_id: "acme" }, OPTIONS);
    expect([tenantClaim, tenantValue]).toEqual(["sub", "alice"]);
  });

  test("is the organisation where TENANT_CLAIM says so", () => {
    const { tenantValue, subject } = identityFrom({ ...CLAIMS, org_id: "acme" }, { ...OPTIONS, tenantClaim: "org_id" });
    expect([tenantValue, subject]).toEqual(["acme", "alice"]);
  });

  test.each([undefined, "", null, 7, ["acme"]])(
    "an organisation of %j is refused, never another tenant",
    async (org_id) => {
      const act = () => identityFrom({ ...CLAIMS, org_id }, { ...OPTIONS, tenantClaim: "org_id" });
      expect(await faultOf(act)).toBe("no_tenant");
    },
  );
});

describe("subject", () => {
  // Each of these characters takes two in JSON.
  test.each(['"', "\ud800"])("the longest, of %j, can also resume", async (character) => {
    const bytes = new TextEncoder().encode(character).length;
    const { subject } = identityFrom({ ...CLAIMS, sub: character.repeat(255 / bytes) }, OPTIONS);
    const [incarnation, client] = [crypto.randomUUID(), crypto.randomUUID()];
    const resume = await new ResumeSigner("secret", "key").make({ incarnation, client, subject, role: "driver" });
    expect(parseAttachQuery(new URLSearchParams(attachParams({ resume })))).toMatchObject({ ok: true });
  });
});

// JSON can write a number that is too large for one: it is read as Infinity.
test.each([undefined, null, "2000000000", JSON.parse("1e999")])("an expiry of %s is none", async (exp) => {
  expect(await faultOf(() => identityFrom({ ...CLAIMS, exp }, OPTIONS))).toBe("missing_claim");
});

describe("a token that says it is good for ever", () => {
  const DAY = 24 * 3600;

  test.each(["jwt", "opaque"])(
    "counts for 60 days from its issue, and is then as good as expired: %s",
    async (kind) => {
      const realm = newRealm();
      const verify = async (claims: Record<string, unknown>) => {
        const token = kind === "jwt" ? await realm.sign(claims) : `at_${crypto.randomUUID()}`;
        const answer = { active: true, client_id: "sbx-cli", sub: "alice", ...claims };
        if (kind === "opaque") await realm.set({ opaque: { [token]: answer } });
        return verifyToken(token, realm);
      };
      const issued = seconds(-10 * DAY);
      for (const exp of [1e10, 1e300]) {
        expect((await verify({ iat: issued, exp })).expiresAt).toBe(issued + MAX_TOKEN_SECONDS);
        expect(await faultOf(() => verify({ iat: seconds(-61 * DAY), exp }))).toBe("expired");
        // Nor does leaving out, or lying about, its beginning help.
        expect(await faultOf(() => verify({ exp }))).toBe("missing_claim");
        expect(await faultOf(() => verify({ iat: seconds(DAY), exp }))).toBe("missing_claim");
      }
      const usual = seconds(3600);
      expect((await verify({ iat: issued, exp: usual })).expiresAt).toBe(usual);
      expect((await verify({ exp: usual })).expiresAt).toBe(usual);
    },
  );
});

describe("scopes", () => {
  test("are read from a text and from an array alike", () => {
    expect(scopesOf("openid sandbox:connect")).toEqual(["openid", "sandbox:connect"]);
    expect(scopesOf(["openid", "sandbox:connect", 7, ""])).toEqual(["openid", "sandbox:connect"]);
  });

  test("a scope brings those it includes", () => {
    expect(scopesOf("sandbox:connect")).toEqual(["sandbox:connect"]);
    expect(scopesOf("sandbox:exec")).toEqual(["sandbox:connect", "sandbox:exec"]);
    expect(scopesOf("sandbox:admin")).toEqual(["sandbox:admin", "sandbox:connect", "sandbox:exec"]);
  });

  test("a token with no sandbox scope gets the default, beside what it has", () => {
    expect(scopesOf("openid", ["sandbox:connect"])).toEqual(["openid", "sandbox:connect"]);
    expect(scopesOf(undefined, ["sandbox:connect"])).toEqual(["sandbox:connect"]);
    expect(scopesOf({ "sandbox:admin": true }, [])).toEqual([]);
  });

  test("a token with any sandbox scope, also an unknown one, gets no default", () => {
    expect(scopesOf("sandbox:connect", ["sandbox:exec"])).toEqual(["sandbox:connect"]);
    expect(scopesOf("sandbox:other", ["sandbox:exec"])).toEqual(["sandbox:other"]);
  });

  test("one that only looks like a scope is none", () => {
    expect(scopesOf("SANDBOX:ADMIN sandbox:administrator")).toEqual(["SANDBOX:ADMIN", "sandbox:administrator"]);
  });

  test("requireScope passes who has it and refuses who has not", async () => {
    const identity = identityFrom({ ...CLAIMS, scope: "sandbox:exec" }, OPTIONS);
    requireScope(identity, "sandbox:connect");
    requireScope(identity, "sandbox:exec");
    expect(await faultOf(() => requireScope(identity, "sandbox:admin"))).toBe("insufficient_scope");
    const nobody = identityFrom(CLAIMS, OPTIONS);
    for (const scope of SANDBOX_SCOPES) {
      expect(await faultOf(() => requireScope(nobody, scope))).toBe("insufficient_scope");
    }
  });
});

describe("name and e-mail", () => {
  test("lose what would move a cursor or turn a line around in someone's terminal", () => {
    const { name, email } = identityFrom(
      { ...CLAIMS, name: "\u001b]0;x\u0007A\u202eb\r\nc", email: "\u0000" },
      OPTIONS,
    );
    expect(name).toBe("]0;xAbc");
    expect(email).toBe(undefined);
  });

  test("L2: what others see of a person has nothing unseen, whichever claim it is taken from, and 64 bytes at most", () => {
    const shown = (claims: object) => displayName(identityFrom({ ...CLAIMS, ...claims }, OPTIONS));
    for (const unseen of ["\u200b", "\u202e", "\u3164", "\u2028", " "]) {
      expect(shown({ name: `Ada${unseen}` })).toBe("Ada");
      expect(shown({ name: unseen, email: `ada@example.test${unseen}` })).toBe("ada@example.test");
      expect(shown({ sub: `ada${unseen}` })).toBe("ada");
      expect(shown({ sub: unseen })).toBe("");
    }
    expect(shown({ name: "👩".repeat(17) })).toBe("👩".repeat(16));
    expect(shown({ name: `${"A".repeat(63)} B` })).toBe("A".repeat(63));
    expect(shown({ name: "Ἀδα 👩🏽 نور" })).toBe("Ἀδα 👩🏽 نور");
  });

  test("are cut to 256 characters, and left out where they are no text", () => {
    const { name, email } = identityFrom({ ...CLAIMS, name: "n".repeat(300), email: ["a"] }, OPTIONS);
    expect(name).toBe("n".repeat(256));
    expect(email).toBe(undefined);
  });
});
