// Logging in by the device flow against the local issuer, and what a stored login is used for.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { approveDevice } from "../../../scripts/local/approve.ts";
import { type Issuer, startIssuer } from "../../../scripts/local/issuer.ts";
import { cleanEnv, collect, runCli, scratch, startCli, until } from "./fixture/cli.ts";
import { startServer, type TestServer } from "./fixture/server.ts";

vi.setConfig({ testTimeout: 30_000 });

let server: TestServer;
let issuer: Issuer;
let env: NodeJS.ProcessEnv;
let home: string;
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
  const dir = scratch();
  return startIssuer({ port: 0, dir, publicOrigin: server.url, deviceInterval: 0.05, accessTokenLifetime });
}

/** Logs in as alice, who presses the issuer's button. */
async function login(...flags: string[]) {
  const child = startCli(["login", ...flags], { env });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const result = collect(child);
  const code = await until(
    () => /Enter code: (\S+)/.exec(said)?.[1] ?? (child.exitCode === null ? undefined : "none"),
    () => said,
  );
  if (code !== "none") await approveDevice(issuer.url, code, { sub: "alice" });
  return result;
}

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
    expect(again).toMatchObject({ code: 0, stderr: "Already logged in (log in again: --force)\n" });
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
      stderr: "sbx-stdio: the stored login has run out: log in again with `sbx-stdio login`\n",
    });
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
      stderr: "sbx-stdio: the stored login is not sent to http://sbx.example, where others can read it: use https\n",
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
});

/** Makes the stored token one that ran out a minute ago. */
function expire(): void {
  const directory = join(home, ".config/sbx-stdio/tokens");
  for (const name of readdirSync(directory).filter((entry) => !entry.endsWith(".lock"))) {
    const stored = JSON.parse(readFileSync(join(directory, name), "utf8"));
    writeFileSync(join(directory, name), JSON.stringify({ ...stored, expiresAt: Date.now() - 60_000 }));
  }
}
