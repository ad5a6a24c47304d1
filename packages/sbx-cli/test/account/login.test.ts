// Logging in by the device flow against the local issuer, and what a stored login is used for.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Issuer, startIssuer } from "../../../local/src/issuer/issuer.ts";
import { cleanEnv, collect, runCli, scratch, startCli, until } from "../fixture/cli.ts";
import { loginAsAlice } from "../fixture/device-login.ts";
import { runHere } from "../fixture/here.ts";
import { startServer, type TestServer } from "../fixture/server.ts";

let server: TestServer;
let issuer: Issuer;
let env: NodeJS.ProcessEnv;
let home: string;
/** With the issuers' key, which takes long to make. */
let keys: string | undefined;
beforeEach(async () => {
  server = await startServer();
  issuer = await issue(3600);
  env = cleanEnv({ SBX_TOKEN: "" });
  home = env.HOME ?? "";
});
afterEach(async () => {
  await issuer.close();
  await server.close();
});

/** @param accessTokenLifetime Seconds. */
function issue(accessTokenLifetime: number): Promise<Issuer> {
  keys ??= scratch();
  const dir = keys;
  return startIssuer({ port: 0, dir, publicOrigin: server.url, deviceInterval: 0.05, accessTokenLifetime });
}

const login = (...flags: string[]) => loginAsAlice(issuer.url, env, flags);

/** The token that the server was shown last. */
async function tokenShown(): Promise<string> {
  const result = await runCli([server.url, "--", "true"], "", env);
  expect(result.stdout).toBe("");
  return server.tokens.at(-1) ?? "";
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

describe("login", () => {
  test("prints where to go on standard error, stores the token for its owner alone, and attaching shows it", async () => {
    const { code, stdout, stderr } = await login(server.url, "--issuer", issuer.url);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain(`1. Visit: ${issuer.url}/device`);
    expect(stderr).toMatch(/Login successful!\n$/);
    const stored = join(home, ".config/sbx-stdio/tokens", new URL(issuer.url).host.replace(":", "_"));
    expect(statSync(stored).mode & 0o777).toBe(0o600);
    const token = await tokenShown();
    expect(claimsOf(token)).toMatchObject({ sub: "alice", aud: "sbx-stdio-cli", iss: issuer.url });
    // oauth.do's own login, perhaps for another issuer, is not touched.
    expect(readdirSync(home)).toEqual([".config"]);
  });

  test("takes the issuer from OAUTH_API_URL, then and when attaching", async () => {
    env.OAUTH_API_URL = issuer.url;
    expect((await login()).code).toBe(0);
    expect(claimsOf(await tokenShown())).toMatchObject({ sub: "alice" });
  });

  test("a good login is not asked for again, but with --force", async () => {
    await login("--issuer", issuer.url);
    const again = await runCli(["login", "--issuer", issuer.url], "", env);
    expect(again).toMatchObject({ code: 0, stderr: "Already logged in; use --force to log in again\n" });
    expect((await login("--issuer", issuer.url, "--force")).stderr).toMatch(/Login successful!\n$/);
  });

  test("each server is shown the token of the issuer that was named for it", async () => {
    await login(server.url, "--issuer", issuer.url);
    const other = await startServer();
    await login(other.url, "--issuer", `${issuer.url.replace("127.0.0.1", "localhost")}`);
    expect(claimsOf(await tokenShown()).aud).toBe("sbx-stdio-cli");
    const logins = JSON.parse(readFileSync(join(home, ".config/sbx-stdio/logins.json"), "utf8"));
    expect(logins.servers).toEqual({
      [server.url]: { issuer: issuer.url },
      [other.url]: { issuer: issuer.url.replace("127.0.0.1", "localhost") },
    });
    await other.close();
  });

  test("an issuer that is not there is one line", async () => {
    await issuer.close();
    const result = await runCli(["login", "--issuer", issuer.url], "", env);
    const text = `cannot reach the issuer ${issuer.url} (connection refused); choose another with --issuer and --client-id`;
    expect(result).toEqual({ code: 255, signal: null, stdout: "", stderr: `Logging in...\nsbx-stdio: ${text}\n` });
  });
});

describe("a stored login", () => {
  test("is renewed when it has run out", async () => {
    await login("--issuer", issuer.url);
    const first = await tokenShown();
    expire();
    const second = await tokenShown();
    expect(second).not.toBe(first);
    expect(claimsOf(second)).toMatchObject({ sub: "alice" });
  });

  test("that can't be renewed is one line that says what to do, and no login begins by itself", async () => {
    await login("--issuer", issuer.url);
    expire();
    await issuer.close();
    const result = await runCli([server.url, "--", "true"], "", env);
    expect(result).toEqual({
      code: 255,
      signal: null,
      stdout: "",
      stderr: `sbx-stdio: the stored login has expired; log in again with \`sbx-stdio login ${server.url}\`\n`,
    });
  });

  test("is made again at the same issuer by the server's address alone", async () => {
    await login(server.url, "--issuer", issuer.url);
    const again = await runCli(["login", server.url], "", env);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("Already logged in") });
  });

  test("is renewed in place when the server says that it is about to run out", async () => {
    await issuer.close();
    issuer = await issue(25);
    server.isOpen = true;
    await login("--issuer", issuer.url);
    const child = startCli([server.url, "--", "sh", "-c", "echo; read x"], { env });
    const result = collect(child);
    await until(
      () => [...server.hosts.values()][0]?.session.log.endOffset,
      () => "no session",
    );
    for (const client of server.host().session.clients) client.peer?.send({ type: "expiring", seconds: 20 });
    const fresh = await until(
      () => server.renewals[0],
      () => "nothing was renewed",
    );
    expect(claimsOf(fresh)).toMatchObject({ sub: "alice" });
    expect(server.tokens).not.toContain(fresh);
    child.stdin?.end("\n");
    expect(await result).toMatchObject({ code: 0, stderr: "" });
  });

  test("is not sent where others can read it", async () => {
    await login("--issuer", issuer.url);
    const result = await runCli(["http://sbx.example", "--", "true"], "", env);
    expect(result).toMatchObject({
      code: 255,
      stderr: "sbx-stdio: the stored login is not sent to http://sbx.example without encryption; use https\n",
    });
  });

  test("is forgotten by logout, everywhere", async () => {
    await login("--issuer", issuer.url);
    mkdirSync(join(home, ".oauth.do"));
    writeFileSync(join(home, ".oauth.do/token"), '{"accessToken":"x"}');
    expect(await runCli(["logout"], "", env)).toEqual({ code: 0, signal: null, stdout: "", stderr: "" });
    expect(existsSync(join(home, ".oauth.do/token"))).toBe(false);
    expect((await runCli([server.url, "--", "true"], "", env)).stderr).toMatch(/^sbx-stdio: no access token/);
  });

  test("for one server is forgotten by logout with its address, its token when no other server takes it", async () => {
    const stored = join(home, ".config/sbx-stdio/tokens", new URL(issuer.url).host.replace(":", "_"));
    const other = await startServer();
    await login(server.url, "--issuer", issuer.url);
    expect(await runCli(["login", other.url, "--issuer", issuer.url], "", env)).toMatchObject({ code: 0 });
    expect(await runCli(["logout", `${server.url}/attach`], "", env)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(await tokenShown()).toBe("");
    await runCli([other.url, "--", "true"], "", env);
    expect(claimsOf(other.tokens.at(-1) ?? "")).toMatchObject({ sub: "alice" });
    expect(existsSync(stored)).toBe(true);
    expect(await runCli(["logout", other.url], "", env)).toMatchObject({ code: 0, stderr: "" });
    expect(existsSync(stored)).toBe(false);
    const none = `not logged in to ${other.url}; \`sbx-stdio logout\` without an address forgets every login`;
    expect(await runCli(["logout", other.url], "", env)).toMatchObject({ code: 255, stderr: `sbx-stdio: ${none}\n` });
    await other.close();
  });
});

describe("a credential is for one server", () => {
  const link = (to: TestServer) => `${to.url}/?sandbox=default&session=main&role=viewer#ticket=s.one`;
  const bySbxToken = (extra: Record<string, string> = {}) => cleanEnv({ SBX_TOKEN: "secret-token", ...extra });
  const attachTo = async (to: TestServer, words: readonly string[], environment: NodeJS.ProcessEnv, run = runHere) => {
    to.refusal = { status: 401, body: '{"error":"no_token","message":"Log in, or give a token"}' };
    const { stderr } = await run(words, "", environment);
    return { token: to.tokens.at(-1), ticket: to.shownTickets.at(-1), stderr };
  };

  test.each<[string, (url: string) => string[]]>([
    ["in a link", (url) => [`${url}/?sandbox=default&session=main&role=viewer#ticket=s.one`]],
    ["beside the address", (url) => [url, "--session", "main", "--ticket", "s.one"]],
  ])(
    "SBX_TOKEN is not sent to an address that came with a ticket %s, unless it was said to be for there",
    async (_, words) => {
      const shown = await attachTo(server, words(server.url), bySbxToken());
      const why = `SBX_TOKEN is not sent to ${server.url}, an address from a share link; allow it with SBX_TOKEN_ORIGIN=${server.url} or --token`;
      const advice = `log in with \`sbx-stdio login ${server.url}\`, or use --token: either is sent with the ticket`;
      expect(shown).toEqual({
        token: "",
        ticket: "s.one",
        stderr: `sbx-stdio: attaching as a guest: ${why}\nsbx-stdio: Log in, or give a token (${advice})\n`,
      });
      const elsewhere = await attachTo(
        server,
        words(server.url),
        bySbxToken({ SBX_TOKEN_ORIGIN: "https://own.example" }),
      );
      expect([elsewhere.token, elsewhere.ticket]).toEqual(["", "s.one"]);
      const here = await attachTo(server, words(server.url), bySbxToken({ SBX_TOKEN_ORIGIN: `${server.url}/attach` }));
      expect([here.token, here.ticket]).toEqual(["secret-token", "s.one"]);
      const given = await attachTo(server, [...words(server.url), "--token", "t"], bySbxToken());
      expect([given.token, given.ticket]).toEqual(["t", "s.one"]);
    },
  );

  test("SBX_TOKEN goes to whatever address a person types, but where SBX_TOKEN_ORIGIN names another", async () => {
    const typed = [server.url, "--", "true"];
    expect((await attachTo(server, typed, bySbxToken())).token).toBe("secret-token");
    const attaches = server.tokens.length;
    const bound = bySbxToken({ SBX_TOKEN_ORIGIN: "https://own.example" });
    const text = `SBX_TOKEN is not sent to ${server.url}: SBX_TOKEN_ORIGIN restricts it to https://own.example`;
    expect((await runHere(typed, "", bound)).stderr).toBe(`sbx-stdio: ${text}\n`);
    expect((await runHere(["sessions", server.url], "", bound)).stderr).toBe(`sbx-stdio: ${text}\n`);
    expect(server.tokens.length).toBe(attaches);
  });

  test("a stored login is sent beside a ticket to the server that it was made for alone", async () => {
    const other = await startServer();
    await login(server.url, "--issuer", issuer.url);
    await runCli(["login", "--issuer", issuer.url], "", env);
    const away = await attachTo(other, [link(other)], env, runCli);
    const why = `not logged in to ${other.url}, an address from a share link; log in with \`sbx-stdio login ${other.url}\``;
    expect([away.token, away.ticket]).toEqual(["", "s.one"]);
    expect(away.stderr.split("\n")[0]).toBe(`sbx-stdio: attaching as a guest: ${why}`);
    const home = await attachTo(server, [link(server)], env, runCli);
    expect(claimsOf(home.token ?? "")).toMatchObject({ sub: "alice" });
    await other.close();
  });

  test("a login that named its server is sent to no other, one that named none to whatever a person types", async () => {
    const other = await startServer();
    await login(other.url, "--issuer", issuer.url);
    expect((await runCli([server.url, "--", "true"], "", env)).stderr).toMatch(/^sbx-stdio: no access token/);
    expect(server.tokens).toEqual([]);
    await runCli(["login", "--issuer", issuer.url], "", env);
    expect(claimsOf(await tokenShown())).toMatchObject({ sub: "alice" });
    await other.close();
  });
});

describe("a ticket that is not on the command line", () => {
  test("is the first line of standard input, and the rest is the process's", async () => {
    server.isOpen = true;
    const first = startCli(
      [server.url, "--session", "main", "--mode", "collaborative", "--no-tty", "--", "head", "-c", "16"],
      { env: cleanEnv() },
    );
    const output = collect(first);
    await until(
      () => server.hosts.get("main"),
      () => "no session",
    );
    const words = [server.url, "--session", "main", "--role", "driver", "--no-tty", "--ticket", "-"];
    const second = await runCli(words, "s.from-input\nfor the process\n", cleanEnv({ SBX_TOKEN: "" }));
    expect(second).toMatchObject({ code: 0, stdout: "for the process\n" });
    expect([server.shownTickets.at(-1), server.tokens.at(-1)]).toEqual(["s.from-input", ""]);
    expect(await output).toMatchObject({ code: 0, stdout: "for the process\n" });
  });

  test("is no ticket in a file; one that is refused before anything is asked for", async () => {
    const file = join(scratch(), "ticket");
    writeFileSync(file, "s.from-file\n", { mode: 0o600 });
    server.refusal = { status: 401, body: '{"error":"ticket_revoked","message":"The ticket was revoked"}' };
    const words = [server.url, "--session", "main", "--ticket-file", file];
    expect((await runHere(words)).stderr).toContain("The ticket was revoked");
    expect(server.shownTickets).toEqual(["s.from-file"]);
    for (const [text, said] of [
      ["", `no ticket in ${file}`],
      ["two words\n", `invalid ticket in ${file}`],
    ] as const) {
      writeFileSync(file, text);
      expect(await runHere(words)).toMatchObject({ code: 255, stderr: `sbx-stdio: ${said}\n` });
    }
    expect((await runHere([...words.slice(0, -1), `${file}.not`])).stderr).toMatch(
      /^sbx-stdio: cannot read the ticket: ENOENT/,
    );
    expect(server.shownTickets).toHaveLength(1);
  });
});

/** Makes the stored token one that ran out a minute ago. */
function expire(): void {
  const directory = join(home, ".config/sbx-stdio/tokens");
  for (const name of readdirSync(directory).filter((entry) => !entry.endsWith(".lock"))) {
    const stored = JSON.parse(readFileSync(join(directory, name), "utf8"));
    writeFileSync(join(directory, name), JSON.stringify({ ...stored, expiresAt: Date.now() - 60_000 }));
  }
}
