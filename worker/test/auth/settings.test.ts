// Settings: the defaults, and that a Worker which is set up wrongly says so and lets nobody in.
import { describe, expect, test } from "vitest";
import { parseEntrySettings } from "../../src/auth/entry-settings.ts";
import { type AuthEnv, readAuthSettings } from "../../src/auth/settings.ts";

const ENV: AuthEnv = {
  OAUTH_ISSUER: "https://id.org.ai",
  OAUTH_AUDIENCE: "cli, web,",
  SESSION_SECRET: "0123456789abcdef0123456789abcdef",
  PUBLIC_ORIGIN: "https://sbx.example",
};

test("what is not set has the documented default", () => {
  expect(readAuthSettings(ENV)).toEqual({
    issuer: "https://id.org.ai",
    tenantIssuer: "https://id.org.ai",
    authorizationServers: ["https://id.org.ai"],
    jwksUri: "https://id.org.ai/.well-known/jwks.json",
    introspectionUri: "https://id.org.ai/oauth/introspect",
    authorizeUri: "https://id.org.ai/oauth/authorize",
    tokenUri: "https://id.org.ai/oauth/token",
    audience: ["cli", "web"],
    resource: "https://sbx.example/mcp",
    clientId: undefined,
    loginScope: "openid profile email",
    renewHours: 12,
    homeSandbox: undefined,
    hasPreviews: false,
    tenantClaim: "sub",
    defaultScopes: [],
    sessionSecret: ENV.SESSION_SECRET,
    publicOrigin: "https://sbx.example",
    linkBase: "https://sbx.example",
    allowedHosts: new Set(["sbx.example"]),
    allowedOrigins: new Set(),
  });
});

test("http beyond loopback is taken only where it was asked for", () => {
  const plain = { ...ENV, OAUTH_ISSUER: "http://host.test:8787", PUBLIC_ORIGIN: "http://host.test:8787" };
  for (const PLAIN_HTTP of ["", "0", "true"])
    expect(() => readAuthSettings({ ...plain, PLAIN_HTTP })).toThrow("must be an https URL, or http on loopback");
  expect(readAuthSettings({ ...plain, PLAIN_HTTP: "1" }).publicOrigin).toBe("http://host.test:8787");
  expect(() => readAuthSettings({ ...plain, PLAIN_HTTP: "1", PUBLIC_ORIGIN: "ftp://host.test" })).toThrow(
    "https://HOST",
  );
});

test("what is set is taken", () => {
  const env: AuthEnv = {
    ...ENV,
    OAUTH_JWKS_URI: "https://keys.example/jwks",
    OAUTH_INTROSPECTION_URI: "https://id.example/i",
    OAUTH_AUTHORIZE_URI: "https://id.example/a",
    OAUTH_TOKEN_URI: "https://id.example/t",
    OAUTH_CLIENT_ID: "web",
    TENANT_CLAIM: "org_id",
    DEFAULT_SCOPES: "sandbox:connect sandbox:exec",
    ALLOWED_HOSTS: "Other.example, other.example:8443,sbx.example:443",
    ALLOWED_ORIGINS: "https://ide.example, http://localhost:3000",
  };
  expect(readAuthSettings(env)).toMatchObject({
    jwksUri: "https://keys.example/jwks",
    introspectionUri: "https://id.example/i",
    authorizeUri: "https://id.example/a",
    tokenUri: "https://id.example/t",
    clientId: "web",
    tenantClaim: "org_id",
    defaultScopes: ["sandbox:connect", "sandbox:exec"],
    allowedHosts: new Set(["sbx.example", "other.example", "other.example:8443"]),
    allowedOrigins: new Set(["https://ide.example", "http://localhost:3000"]),
  });
});

test("an issuer with a slash at its end keeps it, and its addresses have no double one", () => {
  const settings = readAuthSettings({ ...ENV, OAUTH_ISSUER: "https://tenant.example/" });
  expect([settings.issuer, settings.jwksUri]).toEqual([
    "https://tenant.example/",
    "https://tenant.example/.well-known/jwks.json",
  ]);
});

test("on loopback, http is fine and both names of this machine are allowed, with the port", () => {
  const settings = readAuthSettings({
    ...ENV,
    OAUTH_ISSUER: "http://127.0.0.1:9",
    PUBLIC_ORIGIN: "http://localhost:8787/",
  });
  expect(settings.publicOrigin).toBe("http://localhost:8787");
  expect(settings.allowedHosts).toEqual(new Set(["localhost:8787", "127.0.0.1:8787"]));
});

describe("what is wrong is named, without its value", () => {
  const cases: [string, AuthEnv, string][] = [
    ["no issuer", { OAUTH_ISSUER: "" }, "OAUTH_ISSUER is missing"],
    [
      "an issuer over plain http",
      { OAUTH_ISSUER: "http://id.org.ai" },
      "OAUTH_ISSUER must be an https URL, or http on loopback",
    ],
    [
      "keys over plain http",
      { OAUTH_JWKS_URI: "http://k.example" },
      "OAUTH_JWKS_URI must be an https URL, or http on loopback",
    ],
    [
      "an issuer that is no URL",
      { OAUTH_ISSUER: "id.org.ai" },
      "OAUTH_ISSUER must be an https URL, or http on loopback",
    ],
    [
      "no audience",
      { OAUTH_AUDIENCE: " , " },
      "OAUTH_AUDIENCE must list the clients whose tokens are accepted: without it anyone gets in",
    ],
    [
      "a browser client that is not accepted",
      { OAUTH_CLIENT_ID: "other" },
      "OAUTH_CLIENT_ID must be in OAUTH_AUDIENCE: the browser's own tokens would be refused",
    ],
    ["no secret", { SESSION_SECRET: "" }, "SESSION_SECRET is missing"],
    ["a short secret", { SESSION_SECRET: "hunter2" }, "SESSION_SECRET must have at least 32 characters"],
    ["no origin", { PUBLIC_ORIGIN: "" }, "PUBLIC_ORIGIN is missing"],
    [
      "a path in the origin",
      { PUBLIC_ORIGIN: "https://a.example/b" },
      "PUBLIC_ORIGIN must be https://HOST[:PORT], or http on loopback, with no path",
    ],
    [
      "an origin over plain http",
      { PUBLIC_ORIGIN: "http://a.example" },
      "PUBLIC_ORIGIN must be https://HOST[:PORT], or http on loopback, with no path",
    ],
    ...["1000", "12h", "-1"].map((LOGIN_RENEW_HOURS): [string, AuthEnv, string] => [
      `${LOGIN_RENEW_HOURS} hours of renewals`,
      { LOGIN_RENEW_HOURS },
      "LOGIN_RENEW_HOURS must be a number of hours from 0 to 999",
    ]),
    ["an unknown tenant claim", { TENANT_CLAIM: "email" }, 'TENANT_CLAIM must be "sub" or "org_id"'],
    [
      "a default scope that is none",
      { DEFAULT_SCOPES: "sandbox:all" },
      "DEFAULT_SCOPES may only hold sandbox:connect, sandbox:exec and sandbox:admin",
    ],
    [
      "a host that is a URL",
      { ALLOWED_HOSTS: "https://a.example" },
      "ALLOWED_HOSTS must hold HOST or HOST:PORT, comma separated",
    ],
    [
      "a host with a path",
      { ALLOWED_HOSTS: "a.example/b" },
      "ALLOWED_HOSTS must hold HOST or HOST:PORT, comma separated",
    ],
    [
      "a listed origin with a path",
      { ALLOWED_ORIGINS: "https://a.example/b" },
      "ALLOWED_ORIGINS must hold origins such as https://HOST, comma separated",
    ],
    [
      "a listed origin with no scheme",
      { ALLOWED_ORIGINS: "a.example" },
      "ALLOWED_ORIGINS must hold origins such as https://HOST, comma separated",
    ],
    [
      "a host with a name before it",
      { ALLOWED_HOSTS: "a@b.example" },
      "ALLOWED_HOSTS must hold HOST or HOST:PORT, comma separated",
    ],
  ];
  test.each(cases)("%s", (_, wrong, message) => {
    const expected = { code: "misconfigured", status: 503, message: `This server is not set up: ${message}` };
    expect(() => readAuthSettings({ ...ENV, ...wrong })).toThrow(expect.objectContaining(expected));
  });
});

test("what people have can be named by another issuer than the address of theirs", () => {
  expect(readAuthSettings({ ...ENV, TENANT_ISSUER: "serve" })).toMatchObject({
    issuer: "https://id.org.ai",
    tenantIssuer: "serve",
  });
});

test("a Worker that knows its users itself tells MCP hosts of the servers that it is given, each an https URL", () => {
  const servers = (AUTHORIZATION_SERVERS = "") =>
    parseEntrySettings({ ...ENV, AUTHORIZATION_SERVERS }).authorizationServers;
  expect(servers()).toEqual([]);
  expect(servers("https://a.example/x, http://localhost:9,")).toEqual(["https://a.example/x", "http://localhost:9"]);
  for (const wrong of ["http://a.example", "a.example", "https://a.example, ftp://b.example"])
    expect(() => servers(wrong)).toThrow("AUTHORIZATION_SERVERS must hold https URLs, comma separated");
});
