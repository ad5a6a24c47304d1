// Signed tokens: every way to be wrong is refused for its own reason, and the right one gets in.
import { exportSPKI, importJWK, SignJWT } from "jose";
import { afterEach, describe, expect, inject, onTestFinished, test, vi } from "vitest";
import { type VerifyOptions, verifyToken } from "../../src/auth/verify-token.ts";
import { advanceClock, restoreClock } from "./clock.ts";
import { CLIENT, faultOf, newRealm, ORIGIN, OTHER_CLIENT, seconds } from "./realm.ts";

afterEach(restoreClock);

function base64url(value: unknown): string {
  return btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

test("a token of the issuer for one of our clients is its subject's identity", async () => {
  const realm = newRealm();
  const exp = seconds(600);
  const claims = { exp, name: "Alice", email: "a@example.test", client_id: CLIENT, scope: "openid sandbox:exec" };
  expect(await verifyToken(await realm.sign(claims), realm)).toEqual({
    issuer: realm.issuer,
    subject: "alice",
    tenantClaim: "sub",
    tenantValue: "alice",
    name: "Alice",
    email: "a@example.test",
    clientId: CLIENT,
    scopes: new Set(["openid", "sandbox:exec", "sandbox:connect"]),
    expiresAt: exp,
  });
});

test("the second client of the list gets in too, also within an array of audiences", async () => {
  const realm = newRealm();
  const token = await realm.sign({ aud: ["elsewhere", OTHER_CLIENT] });
  expect((await verifyToken(token, realm)).subject).toBe("alice");
});

describe("signature", () => {
  test("alg none is refused, with an empty signature and with a real one", async () => {
    const realm = newRealm();
    const [, payload, signature] = (await realm.sign()).split(".");
    const header = base64url({ alg: "none" });
    expect(await faultOf(() => verifyToken(`${header}.${payload}.`, realm))).toBe("bad_signature");
    expect(await faultOf(() => verifyToken(`${header}.${payload}.${signature}`, realm))).toBe("bad_signature");
    expect(await realm.counts()).toMatchObject({ jwks: 0 });
  });

  test("HS256 with the public key as its secret is refused", async () => {
    const realm = newRealm();
    const { kty, n, e } = inject("issuerKeys").a;
    const publicKey = await importJWK({ kty, n, e, ext: true } as JsonWebKey & { kty: string }, "RS256", {
      extractable: true,
    });
    if (publicKey instanceof Uint8Array) throw new TypeError("Not a public key");
    const secret = new TextEncoder().encode(await exportSPKI(publicKey));
    const token = await new SignJWT({ iss: realm.issuer, aud: CLIENT, sub: "alice", exp: seconds(60) })
      .setProtectedHeader({ alg: "HS256", kid: "a" })
      .sign(secret);
    expect(await faultOf(() => verifyToken(token, realm))).toBe("bad_signature");
  });

  test("another key under the issuer's kid is refused", async () => {
    const realm = newRealm();
    expect(await faultOf(async () => verifyToken(await realm.sign({}, "foreign"), realm))).toBe("bad_signature");
  });

  test("a changed payload is refused", async () => {
    const realm = newRealm();
    const [header, , signature] = (await realm.sign()).split(".");
    const payload = base64url({ iss: realm.issuer, aud: CLIENT, sub: "bob", exp: seconds(60) });
    expect(await faultOf(() => verifyToken(`${header}.${payload}.${signature}`, realm))).toBe("bad_signature");
  });

  test("an unknown kid is refused, and a flood of them asks the issuer once", async () => {
    const realm = newRealm();
    for (let i = 0; i < 20; i++) {
      const token = await realm.sign({}, "a", { kid: `unknown-${i}` });
      expect(await faultOf(() => verifyToken(token, realm))).toBe("bad_signature");
    }
    expect(await realm.counts()).toMatchObject({ jwks: 1 });
  });

  test("a jwk or jku in the token's own header is not believed", async () => {
    const realm = newRealm();
    const { kty, n, e } = inject("issuerKeys").foreign;
    const token = await realm.sign({}, "foreign", { jwk: { kty, n, e }, jku: `${realm.issuer}/own.json` });
    expect(await faultOf(() => verifyToken(token, realm))).toBe("bad_signature");
  });
});

describe("key rotation", () => {
  test("a token of the new key gets in 30 s after the keys were last fetched", async () => {
    const realm = newRealm();
    await verifyToken(await realm.sign(), realm);
    await realm.set({ published: ["a", "b"] });
    const token = await realm.sign({}, "b");
    expect(await faultOf(() => verifyToken(token, realm))).toBe("bad_signature");
    advanceClock(31_000);
    expect((await verifyToken(token, realm)).subject).toBe("alice");
    expect(await realm.counts()).toMatchObject({ jwks: 2 });
  });

  test("a token of a withdrawn key is refused after 10 minutes at the latest", async () => {
    const realm = newRealm();
    const token = await realm.sign({ exp: seconds(3600) });
    await verifyToken(token, realm);
    await realm.set({ published: ["b"] });
    expect((await verifyToken(token, realm)).subject).toBe("alice");
    advanceClock(601_000);
    expect(await faultOf(() => verifyToken(token, realm))).toBe("bad_signature");
  });

  test("a signature is not computed again while its key is published, and all else is looked at each time", async () => {
    const realm = newRealm();
    const verify = vi.spyOn(crypto.subtle, "verify");
    onTestFinished(() => verify.mockRestore());
    const [token, short] = [await realm.sign({ exp: seconds(3600) }), await realm.sign({ exp: seconds(30) })];
    for (const one of [token, token, short, short]) await verifyToken(one, realm);
    expect(verify).toHaveBeenCalledTimes(2);
    // Held against something else, it has to be good for that.
    expect(await faultOf(() => verifyToken(token, { ...realm, audience: ["elsewhere"] }))).toBe("wrong_audience");
    advanceClock(31_000);
    expect(await faultOf(() => verifyToken(short, realm))).toBe("expired");
    // An unknown key makes the keys be fetched: from then on a withdrawn one does not count.
    await realm.set({ published: ["b"] });
    await verifyToken(await realm.sign({}, "b"), realm);
    expect(await faultOf(() => verifyToken(token, realm))).toBe("bad_signature");
    expect((await realm.counts()).jwks).toBe(2);
  });

  test("keys that can't be fetched are the server's fault, not the token's, and are asked for again", async () => {
    const realm = newRealm();
    await realm.set({ down: true });
    const token = await realm.sign();
    expect(await faultOf(() => verifyToken(token, realm))).toBe("issuer_unreachable");
    await realm.set({ down: false });
    expect((await verifyToken(token, realm)).subject).toBe("alice");
  });

  test("an issuer that refuses the connection is unreachable", async () => {
    const realm = newRealm();
    const jwksUri = "http://127.0.0.1:1/jwks.json";
    expect(await faultOf(async () => verifyToken(await realm.sign(), { ...realm, jwksUri }))).toBe(
      "issuer_unreachable",
    );
  });
});

describe("claims", () => {
  const HOUR = 3600;
  const cases: [string, Record<string, unknown>, string][] = [
    ["another issuer", { iss: "https://elsewhere.example" }, "wrong_issuer"],
    ["an alias of id.org.ai, which this issuer is not", { iss: "https://oauth.do" }, "wrong_issuer"],
    ["no issuer", { iss: undefined }, "wrong_issuer"],
    ["another audience", { aud: "elsewhere" }, "wrong_audience"],
    ["no audience", { aud: undefined }, "wrong_audience"],
    ["an empty audience", { aud: [] }, "wrong_audience"],
    ["our audience, but issued to another client", { client_id: "stranger" }, "wrong_audience"],
    ["our audience, but authorized for another party", { azp: "stranger" }, "wrong_audience"],
    ["a client_id that is no text", { client_id: [CLIENT] }, "wrong_audience"],
    ["an expiry in the past", { exp: seconds(-1) }, "expired"],
    ["no expiry", { exp: undefined }, "missing_claim"],
    ["an expiry that is no number", { exp: String(seconds(HOUR)) }, "missing_claim"],
    ["a start in the future", { nbf: seconds(60) }, "not_yet_valid"],
    ["no subject", { sub: undefined }, "missing_claim"],
    ["an empty subject", { sub: "" }, "missing_claim"],
    ["a subject that is no text", { sub: 42 }, "missing_claim"],
    ["a subject of more than 255 bytes", { sub: `${"é".repeat(127)}ab` }, "missing_claim"],
    ["a control character in its subject", { sub: "ali\u0007ce" }, "missing_claim"],
  ];
  test.each(cases)("a token with %s is refused", async (_, claims, code) => {
    const realm = newRealm();
    const token = await realm.sign(claims);
    expect(await faultOf(() => verifyToken(token, realm))).toBe(code);
  });

  test("a token for the server's own address counts if it names one of our clients, and only there", async () => {
    const realm = newRealm();
    const resource = `${ORIGIN}/mcp`;
    const verify = async (claims: Record<string, unknown>, options: VerifyOptions = { ...realm, resource }) =>
      verifyToken(await realm.sign({ aud: resource, ...claims }), options);
    for (const claims of [{ client_id: CLIENT }, { azp: OTHER_CLIENT }, { aud: [resource, CLIENT] }])
      expect((await verify(claims)).subject).toBe("alice");
    for (const claims of [{}, { client_id: "stranger" }, { aud: [resource, "stranger"] }])
      expect(await faultOf(() => verify(claims))).toBe("wrong_audience");
    expect(await faultOf(() => verify({ client_id: CLIENT }, realm))).toBe("wrong_audience");
  });

  test("a token is refused once it has expired, though it was good before", async () => {
    const realm = newRealm();
    const token = await realm.sign({ exp: seconds(60) });
    await verifyToken(token, realm);
    advanceClock(60_000);
    expect(await faultOf(() => verifyToken(token, realm))).toBe("expired");
  });

  test("clocks may differ by 5 s where a token begins", async () => {
    const realm = newRealm();
    const token = await realm.sign({ exp: seconds(60), nbf: seconds(3) });
    expect((await verifyToken(token, realm)).subject).toBe("alice");
  });

  test("a logout token is not one to log in with", async () => {
    const realm = newRealm();
    const token = await realm.sign({}, "a", { typ: "logout+jwt" });
    expect(await faultOf(() => verifyToken(token, realm))).toBe("malformed");
    const accessToken = await realm.sign({}, "a", { typ: "at+jwt" });
    expect((await verifyToken(accessToken, realm)).subject).toBe("alice");
  });

  test("without a list of audiences everything is refused, and the message says what is missing", async () => {
    const realm = newRealm();
    const token = await realm.sign();
    await expect(verifyToken(token, { ...realm, audience: [] })).rejects.toMatchObject({
      code: "misconfigured",
      status: 503,
      message: "This server is not set up: the list of accepted clients is empty",
    });
  });
});

describe("issuer's names", () => {
  const canonical = "https://id.org.ai";
  test.each([canonical, "https://oauth.do", "https://auth.apis.do"])(
    "%s is id.org.ai, and so one tenant",
    async (iss) => {
      const realm = newRealm();
      const options = { issuer: canonical, audience: realm.audience, jwksUri: `${realm.issuer}/.well-known/jwks.json` };
      expect((await verifyToken(await realm.sign({ iss }), options)).issuer).toBe(canonical);
    },
  );

  test.each(["https://id.org.ai/", "https://id.org.ai.example", "http://id.org.ai"])(
    "%s is not id.org.ai",
    async (iss) => {
      const realm = newRealm();
      const options = { issuer: canonical, audience: realm.audience, jwksUri: `${realm.issuer}/.well-known/jwks.json` };
      expect(await faultOf(async () => verifyToken(await realm.sign({ iss }), options))).toBe("wrong_issuer");
    },
  );
});

describe("garbage", () => {
  const cases = [
    "",
    "x",
    "a.b.c",
    "a.b",
    "a.b.c.d",
    "..",
    "e30.e30.e30",
    "at_short",
    "at_../../../../etc/passwd",
    `rt_${"0".repeat(48)}`,
    "é".repeat(40),
    `${"a".repeat(9000)}.b.c`,
  ];
  test.each(cases)("%j is malformed, and nobody is asked about it", async (token) => {
    const realm = newRealm();
    expect(await faultOf(() => verifyToken(token, realm))).toBe("malformed");
    expect(await realm.counts()).toEqual({ jwks: 0, introspect: 0, token: 0, validate: 0 });
  });
});
