// The local issuer over HTTP, as its real clients use it.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Issuer, type IssuerOptions, startIssuer } from "../src/issuer/issuer.ts";
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from "../src/issuer/tokens.ts";
import { approveDevice, signIn } from "./approve.ts";
import { temporaryDirectory } from "./temporary.ts";

const PUBLIC_ORIGIN = "http://localhost:8787";
const CALLBACK = `${PUBLIC_ORIGIN}/callback`;
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

async function issuer(options: Partial<IssuerOptions> = {}): Promise<Issuer> {
  const dir = options.dir ?? temporaryDirectory();
  const started = await startIssuer({ port: 0, publicOrigin: PUBLIC_ORIGIN, deviceInterval: 0.02, ...options, dir });
  onTestFinished(() => started.close());
  return started;
}

async function post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: "POST", headers, body: new URLSearchParams(fields) });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

function authorizeUrl(issuerUrl: string, changes: Record<string, string | undefined> = {}) {
  const verifier = randomBytes(32).toString("base64url");
  const url = new URL("/oauth/authorize", issuerUrl);
  const parameters = {
    response_type: "code",
    client_id: WEB_CLIENT_ID,
    redirect_uri: CALLBACK,
    scope: "openid profile email sandbox:connect sandbox:exec",
    state: "st-1",
    nonce: "n-1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...changes,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return { url: url.href, verifier };
}

async function signedInCode(issuerUrl: string) {
  const { url, verifier } = authorizeUrl(issuerUrl);
  const callback = await signIn(url, { sub: "bob", org: "acme" });
  const code = callback.searchParams.get("code") ?? "";
  const fields = {
    grant_type: "authorization_code",
    client_id: WEB_CLIENT_ID,
    redirect_uri: CALLBACK,
    code,
    code_verifier: verifier,
  };
  return { callback, fields };
}

/** Runs device-login.ts, hands each of its JSON lines to `onLine` and waits for that. Resolves with the last one. */
async function deviceLogin(issuerUrl: string, home: string, onLine: (line: Record<string, unknown>) => unknown) {
  const script = fileURLToPath(new URL("./device-login.ts", import.meta.url));
  const child = spawn(process.execPath, [script, issuerUrl, CLI_CLIENT_ID], {
    env: { ...process.env, HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let last: Record<string, unknown> = {};
  for await (const text of createInterface({ input: child.stdout })) {
    last = JSON.parse(text);
    await onLine(last);
  }
  return last;
}

test("oauth.do's own device flow signs in, stores the token in HOME, and the token is the approved person's", async () => {
  const { url } = await issuer();
  const home = temporaryDirectory();

  const { result } = await deviceLogin(url, home, async ({ text }) => {
    const userCode = /Enter code: (\S+)/.exec(String(text))?.[1];
    if (userCode !== undefined) await approveDevice(url, userCode, { sub: "bob", org: "acme" });
  });

  const { token } = result as { token: string };
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL("/.well-known/jwks.json", url)));
  expect(payload).toMatchObject({ iss: url, aud: CLI_CLIENT_ID, sub: "bob", org_id: "acme", name: "Bob" });
  expect(payload.scope).toBe("openid profile email");
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
  const path = join(home, ".oauth.do/token");
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ accessToken: token });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("oauth.do refreshes a token that is about to expire without asking anybody", async () => {
  const { url } = await issuer({ accessTokenLifetime: 20 });
  const home = temporaryDirectory();
  await deviceLogin(url, home, async ({ text }) => {
    const userCode = /Enter code: (\S+)/.exec(String(text))?.[1];
    if (userCode !== undefined) await approveDevice(url, userCode, { sub: "alice" });
  });
  const first = JSON.parse(readFileSync(join(home, ".oauth.do/token"), "utf8")).accessToken;

  const lines: unknown[] = [];
  const { result } = await deviceLogin(url, home, (line) => lines.push(line));

  expect(result).toEqual({ token: expect.stringMatching(/^ey/), isNewLogin: false });
  expect((result as { token: string }).token).not.toBe(first);
  expect(lines).toHaveLength(1);
});

test("oauth.do's device flow ends with an error when the person refuses", async () => {
  const { url } = await issuer();
  const last = await deviceLogin(url, temporaryDirectory(), async ({ text }) => {
    const userCode = /Enter code: (\S+)/.exec(String(text))?.[1];
    if (userCode === undefined) return;
    const body = new URLSearchParams({ user_code: userCode, refuse: "1" });
    await fetch(`${url}/device`, { method: "POST", headers: { origin: url }, body });
  });
  expect(last).toEqual({ error: "Access denied by user" });
});

test("a device code is good for one token", async () => {
  const { url } = await issuer({ deviceInterval: 60 });
  const started = await post(`${url}/oauth/device`, { client_id: CLI_CLIENT_ID, scope: "sandbox:connect nonsense" });
  const userCode = started.body.user_code ?? "";
  expect(started.body).toMatchObject({
    verification_uri: `${url}/device`,
    verification_uri_complete: `${url}/device?user_code=${userCode}`,
    expires_in: 600,
    interval: 60,
  });
  const fields = { grant_type: DEVICE_GRANT, client_id: CLI_CLIENT_ID, device_code: started.body.device_code ?? "" };

  expect((await post(`${url}/oauth/token`, fields)).body.error).toBe("authorization_pending");
  await approveDevice(url, userCode.toLowerCase().replace("-", " "), { sub: "alice" });
  const token = await post(`${url}/oauth/token`, fields);
  expect(token).toMatchObject({ status: 200, body: { token_type: "Bearer", scope: "sandbox:connect" } });
  expect((await post(`${url}/oauth/token`, fields)).body.error).toBe("invalid_grant");
});

test("a code with its PKCE verifier becomes an access token and an id_token of the person who signed in", async () => {
  const { url } = await issuer();
  const { callback, fields } = await signedInCode(url);

  expect(callback.origin + callback.pathname).toBe(CALLBACK);
  expect(callback.searchParams.get("state")).toBe("st-1");
  expect(callback.searchParams.get("iss")).toBe(url);
  const { status, body } = await post(`${url}/oauth/token`, fields);

  expect(status).toBe(200);
  const jwks = createRemoteJWKSet(new URL("/.well-known/jwks.json", url));
  const expected = { issuer: url, audience: WEB_CLIENT_ID, algorithms: ["RS256"] };
  const access = await jwtVerify(body.access_token ?? "", jwks, expected);
  expect(access.payload).toMatchObject({ sub: "bob", org_id: "acme", scope: body.scope });
  const id = await jwtVerify(body.id_token ?? "", jwks, expected);
  expect(id.payload).toMatchObject({ sub: "bob", email: "bob@example.test", nonce: "n-1" });
});

test("the sign-in page shows what was sent to it as text, never as markup", async () => {
  const { url } = await issuer();
  const hostile = `"><script>alert(1)</script>`;
  const begun = await fetch(authorizeUrl(url, { login_hint: hostile, state: hostile }).url, { redirect: "manual" });
  const cookie = begun.headers.getSetCookie().map((one) => one.split(";")[0]);
  const response = await fetch(new URL(begun.headers.get("location") ?? "", url), {
    headers: { cookie: cookie.join("; ") },
  });
  const page = await response.text();
  expect(page).not.toContain("<script>");
  expect(page).toContain("&quot;&gt;&lt;script&gt;");
  expect(response.headers.get("content-security-policy")).toContain(`form-action 'self' ${PUBLIC_ORIGIN}`);
  expect(response.headers.get("x-frame-options")).toBe("DENY");
});

test("a login says in words what is asked for, and is called the same as on the page", async () => {
  const { url } = await issuer();
  const pageWith = async (scope: string) => {
    const begun = await fetch(authorizeUrl(url, { scope }).url, { redirect: "manual" });
    const cookie = begun.headers.getSetCookie().map((one) => one.split(";")[0]);
    const to = new URL(begun.headers.get("location") ?? "", url);
    return (await fetch(to, { headers: { cookie: cookie.join("; ") } })).text();
  };
  const whole = await pageWith("openid profile email sandbox:connect sandbox:exec");
  expect(whole).toContain(
    "asks for your name and your mail address. It may then open your sessions and start new ones.",
  );
  expect(whole).toContain("<button>Log in</button>");
  expect(whole).not.toMatch(/openid|[Ss]ign/);
  expect(await pageWith("openid")).toContain("asks for your user name.<");
});

test("a sign-in is answered at the page's own address only", async () => {
  const { url } = await issuer();
  const { url: address } = authorizeUrl(url, { redirect_uri: "http://evil.test/callback" });
  const response = await fetch(address, { redirect: "manual" });
  expect([response.status, response.headers.get("location")]).toEqual([400, null]);
});

test("a user name with characters that names don't have is refused on the page", async () => {
  const { url } = await issuer();
  const { url: address } = authorizeUrl(url);
  await expect(signIn(address, { sub: "no spaces" })).rejects.toThrow("A user name is");
});

test("opaque tokens are told from anything else by introspection, until they are revoked or expire", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  onTestFinished(() => void vi.useRealTimers());
  const { url } = await issuer({ accessTokens: "opaque" });
  const { fields } = await signedInCode(url);
  const { access_token: token = "" } = (await post(`${url}/oauth/token`, fields)).body;
  expect(token).toMatch(/^at_[\w-]{43}$/);

  const introspect = async () => (await post(`${url}/oauth/introspect`, { token })).body;
  expect(await introspect()).toMatchObject({
    active: true,
    iss: url,
    sub: "bob",
    org_id: "acme",
    client_id: WEB_CLIENT_ID,
    scope: "openid profile email sandbox:connect sandbox:exec",
    iat: 1_800_000_000,
    exp: 1_800_003_600,
  });
  expect((await post(`${url}/oauth/introspect`, { token: "at_unknown" })).body).toEqual({ active: false });
  vi.setSystemTime(1_800_003_601_000);
  expect(await introspect()).toEqual({ active: false });
  vi.setSystemTime(1_800_000_000_000);
  const body = new URLSearchParams({ token, client_id: WEB_CLIENT_ID });
  await fetch(`${url}/oauth/revoke`, { method: "POST", body });
  expect(await introspect()).toEqual({ active: false });
});

test("/me says who bears a token, and 401 without one; introspection knows a JWT, and no id_token", async () => {
  const { url } = await issuer();
  const { fields } = await signedInCode(url);
  const { access_token = "", id_token = "" } = (await post(`${url}/oauth/token`, fields)).body;
  const get = (headers = {}) => fetch(`${url}/me`, { headers });
  const me = { id: "bob", name: "Bob", email: "bob@example.test", organizationId: "acme" };
  expect(await (await get({ authorization: `Bearer ${access_token}` })).json()).toEqual(me);
  expect((await get()).status).toBe(401);
  const isActive = async (token: string) => (await post(`${url}/oauth/introspect`, { token })).body.active;
  expect([await isActive(access_token), await isActive(id_token)]).toEqual([true, false]);
});

test("a request that names another host is refused, so that a page can't point its own name here", async () => {
  const { url } = await issuer();
  const status = await new Promise((resolve, reject) => {
    const outgoing = request(`${url}/.well-known/jwks.json`, { headers: { host: "evil.test" } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    outgoing.on("error", reject).end();
  });
  expect(status).toBe(403);
});

test("a page elsewhere can neither press the buttons nor start a device sign-in", async () => {
  const { url } = await issuer();
  const elsewhere = { origin: "http://evil.test" };
  const device = await post(`${url}/oauth/device`, { client_id: CLI_CLIENT_ID });
  const form = { user_code: device.body.user_code ?? "", user: "alice" };

  expect((await post(`${url}/device`, form, elsewhere)).status).toBe(403);
  expect((await post(`${url}/device`, form)).status).toBe(403);
  expect((await post(`${url}/oauth/device`, { client_id: CLI_CLIENT_ID }, elsewhere)).status).toBe(403);
  expect((await post(`${url}/oauth/token`, {}, { origin: url })).status).toBe(403);
});

test("a body over 64 KiB is refused with 413", async () => {
  const { url } = await issuer();
  expect((await post(`${url}/oauth/introspect`, { token: "x".repeat(64 * 1024) })).status).toBe(413);
});

test("the key is made once, for its owner only, and its public half is what the JWKS shows", async () => {
  const dir = temporaryDirectory();
  const published = async () => {
    const response = await fetch(`${(await issuer({ dir })).url}/.well-known/jwks.json`);
    return ((await response.json()) as { keys: object[] }).keys;
  };
  const [first] = await published();
  expect(await published()).toEqual([first]);
  expect(Object.keys(first ?? {}).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
  expect(statSync(join(dir, "issuer-key.json")).mode & 0o777).toBe(0o600);
});

test("discovery names the addresses that exist", async () => {
  const { url } = await issuer();
  const discovery = await (await fetch(`${url}/.well-known/openid-configuration`)).json();
  expect(discovery).toMatchObject({
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    jwks_uri: `${url}/.well-known/jwks.json`,
    code_challenge_methods_supported: ["S256"],
  });
});
