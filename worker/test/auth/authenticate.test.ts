// A whole request: host, credential, origin and token together, as the Worker asks.
import { describe, expect, test } from "vitest";
import { type Authenticated, authenticate } from "../../src/auth/authenticate.ts";
import { beginSession } from "../../src/auth/session.ts";
import { readAuthSettings } from "../../src/auth/settings.ts";
import { AuthFault, refusal } from "../../src/refusal/fault.ts";
import { faultOf, newRealm, ORIGIN, type Realm, seconds } from "./realm.ts";

interface Asking {
  method?: string;
  headers?: Record<string, string>;
  url?: string;
}

function ask(realm: Realm, { url = `${ORIGIN}/attach`, method = "GET", headers = {} }: Asking): Promise<Authenticated> {
  return authenticate(new Request(url, { method, headers }), readAuthSettings(realm.env));
}

/** A `Cookie` header with a session that holds `token`. */
async function cookieWith(realm: Realm, token: string, scope?: string): Promise<string> {
  const session = { userId: "alice", accessToken: token, expiresAt: Date.now() + 60_000, ...(scope && { scope }) };
  const cookie = await beginSession(session, readAuthSettings(realm.env));
  return cookie.slice(0, cookie.indexOf(";"));
}

const UPGRADE = { Upgrade: "websocket", Connection: "Upgrade" };

describe("host", () => {
  test("a name that was pointed at this server (DNS rebinding) is refused before anything else", async () => {
    const realm = newRealm();
    const Authorization = `Bearer ${await realm.sign()}`;
    for (const url of ["https://evil.example/", "https://sbx.example.evil.example/", "https://sbx.example:444/"]) {
      expect(await faultOf(() => ask(realm, { url, headers: { Authorization } }))).toBe("bad_host");
    }
  });

  test("a Host header that says otherwise than the address is refused", async () => {
    const realm = newRealm();
    const Authorization = `Bearer ${await realm.sign()}`;
    for (const Host of ["evil.example", "sbx.example@evil.example", "sbx.example:444", "a b", ""]) {
      expect(await faultOf(() => ask(realm, { headers: { Authorization, Host } }))).toBe("bad_host");
    }
    const url = "https://evil.example/attach";
    expect(await faultOf(() => ask(realm, { url, headers: { Authorization, Host: "sbx.example" } }))).toBe("bad_host");
    for (const Host of ["sbx.example", "SBX.example:443"]) {
      expect((await ask(realm, { headers: { Authorization, Host } })).identity.subject).toBe("alice");
    }
  });

  test("on loopback both names get in with the right port, and nothing else does", async () => {
    const realm = newRealm();
    const local: Realm = { ...realm, env: { ...realm.env, PUBLIC_ORIGIN: "http://localhost:8787" } };
    const headers = { Authorization: `Bearer ${await realm.sign()}` };
    expect((await ask(local, { url: "http://localhost:8787/", headers })).source).toBe("authorization");
    expect((await ask(local, { url: "http://127.0.0.1:8787/", headers })).source).toBe("authorization");
    for (const url of ["http://127.0.0.1:8788/", "http://0.0.0.0:8787/", "http://rebound.example:8787/"]) {
      expect(await faultOf(() => ask(local, { url, headers }))).toBe("bad_host");
    }
  });
});

describe("without the cookie", () => {
  test("no token at all is refused", async () => {
    expect(await faultOf(() => ask(newRealm(), {}))).toBe("no_token");
  });

  test("each place gets in, from whatever origin: no page can make a browser send these", async () => {
    const realm = newRealm();
    const token = await realm.sign();
    const Origin = "https://elsewhere.example";
    const asking: [string, Asking][] = [
      ["authorization", { method: "DELETE", headers: { Authorization: `Bearer ${token}`, Origin } }],
      ["subprotocol", { headers: { "Sec-WebSocket-Protocol": `stdio.v1, bearer.${token}`, ...UPGRADE, Origin } }],
      ["query", { url: `${ORIGIN}/attach?token=${token}`, headers: { ...UPGRADE, Origin } }],
    ];
    for (const [source, one] of asking) {
      const authenticated = await ask(realm, one);
      expect([authenticated.source, authenticated.identity.subject]).toEqual([source, "alice"]);
    }
  });

  test("a refused token is not made good by a valid cookie", async () => {
    const realm = newRealm();
    const Cookie = await cookieWith(realm, await realm.sign());
    const Authorization = `Bearer ${await realm.sign({ exp: seconds(-60) })}`;
    expect(await faultOf(() => ask(realm, { headers: { Cookie, Authorization } }))).toBe("expired");
  });
});

describe("with the cookie", () => {
  const wrongOrigins = [undefined, "null", "https://evil.example", "http://sbx.example", `${ORIGIN}:444`, `${ORIGIN}/`];
  test.each(wrongOrigins)("an upgrade and a DELETE from origin %s are refused", async (Origin) => {
    const realm = newRealm();
    const Cookie = await cookieWith(realm, await realm.sign());
    const headers = { Cookie, ...(Origin !== undefined && { Origin }) };
    expect(await faultOf(() => ask(realm, { headers: { ...headers, ...UPGRADE } }))).toBe("bad_origin");
    expect(await faultOf(() => ask(realm, { headers, method: "DELETE" }))).toBe("bad_origin");
    expect(await faultOf(() => ask(realm, { headers, method: "HEAD" }))).toBe("bad_origin");
  });

  test("an upgrade and a POST from our own page get in", async () => {
    const realm = newRealm();
    const headers = { Cookie: await cookieWith(realm, await realm.sign()), Origin: ORIGIN };
    expect((await ask(realm, { headers: { ...headers, ...UPGRADE } })).source).toBe("cookie");
    expect((await ask(realm, { headers, method: "POST" })).source).toBe("cookie");
  });

  test("a plain GET needs no origin", async () => {
    const realm = newRealm();
    const headers = { Cookie: await cookieWith(realm, await realm.sign()) };
    expect((await ask(realm, { headers })).source).toBe("cookie");
  });

  test("the token in it is verified like any other, on each use", async () => {
    const realm = newRealm();
    for (const [claims, code] of [
      [{ exp: seconds(-60) }, "expired"],
      [{ aud: "elsewhere" }, "wrong_audience"],
      [{ iss: "https://elsewhere.example" }, "wrong_issuer"],
    ] as const) {
      const headers = { Cookie: await cookieWith(realm, await realm.sign(claims)) };
      expect(await faultOf(() => ask(realm, { headers }))).toBe(code);
    }
  });

  test("a token without scopes has those granted at login, and only without any the default", async () => {
    const realm = newRealm();
    const token = await realm.sign();
    const scopes = async (granted?: string) => {
      const headers = { Cookie: await cookieWith(realm, token, granted) };
      return [...(await ask(realm, { headers })).identity.scopes].sort();
    };
    expect(await scopes("openid sandbox:exec")).toEqual(["openid", "sandbox:connect", "sandbox:exec"]);
    expect(await scopes("openid")).toEqual(["sandbox:connect"]);
    expect(await scopes()).toEqual(["sandbox:connect"]);
  });

  test("scopes in the token itself can't be widened by what the cookie says", async () => {
    const realm = newRealm();
    const token = await realm.sign({ scope: "sandbox:connect" });
    const headers = { Cookie: await cookieWith(realm, token, "sandbox:admin") };
    expect([...(await ask(realm, { headers })).identity.scopes]).toEqual(["sandbox:connect"]);
  });

  test("a tampered cookie is refused, wherever it was changed", async () => {
    const realm = newRealm();
    const cookie = await cookieWith(realm, await realm.sign());
    const start = cookie.indexOf("=") + 1;
    for (const at of [start, start + 20, Math.floor(cookie.length / 2), cookie.length - 5]) {
      const changed = cookie.slice(0, at) + (cookie[at] === "A" ? "B" : "A") + cookie.slice(at + 1);
      expect(await faultOf(() => ask(realm, { headers: { Cookie: changed } }))).toBe("bad_session");
    }
    for (const value of ["x", "%%%", "e30=", "A".repeat(4000)]) {
      const Cookie = `${cookie.slice(0, start)}${value}`;
      expect(await faultOf(() => ask(realm, { headers: { Cookie } }))).toBe("bad_session");
    }
  });

  test("a cookie under another server's secret is refused", async () => {
    const realm = newRealm();
    const other: Realm = {
      ...realm,
      env: { ...realm.env, SESSION_SECRET: "another secret, just as long as the first" },
    };
    const headers = { Cookie: await cookieWith(other, await realm.sign()) };
    expect(await faultOf(() => ask(realm, { headers }))).toBe("bad_session");
  });
});

describe("the answer to a fault", () => {
  test("is one line of JSON with the status, never cached", async () => {
    const response = refusal(new AuthFault("expired", "The token has expired", { cause: "inner" }));
    expect(response.status).toBe(401);
    expect(await response.text()).toBe('{"error":"expired","message":"The token has expired"}\n');
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("WWW-Authenticate")).toBe('Bearer error="invalid_token"');
  });

  test("says how to authenticate only where that would help", () => {
    expect(refusal(new AuthFault("no_token", "")).headers.get("WWW-Authenticate")).toBe("Bearer");
    expect(refusal(new AuthFault("bad_origin", "")).headers.get("WWW-Authenticate")).toBe(null);
    const refused = refusal(new AuthFault("insufficient_scope", ""));
    expect([refused.status, refused.headers.get("WWW-Authenticate")]).toEqual([
      403,
      'Bearer error="insufficient_scope"',
    ]);
  });
});
