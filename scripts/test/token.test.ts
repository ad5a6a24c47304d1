// `npm run --silent token`, as scripts use it: its stdout, and the token's claims.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { startIssuer } from "../../packages/local/src/issuer.ts";
import { writeRunRecord } from "../../packages/local/src/run-record.ts";
import { temporaryDirectory } from "./temporary.ts";

const SCRIPT = fileURLToPath(new URL("../token.ts", import.meta.url));

async function token(dir: string, args: string[] = []): Promise<string> {
  const env = { ...process.env, SBX_LOCAL_DIR: dir };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [SCRIPT, ...args], { env });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return stdout.trim();
}

test("a token made before the issuer ever ran is valid once it runs on the default port's address", async () => {
  const dir = temporaryDirectory();
  const made = await token(dir);
  const issuer = await startIssuer({ port: 0, dir, publicOrigin: "http://localhost:8787" });
  onTestFinished(() => issuer.close());

  const jwks = createRemoteJWKSet(new URL("/.well-known/jwks.json", issuer.url));
  const { payload } = await jwtVerify(made, jwks, { issuer: "http://127.0.0.1:8710", audience: "sbx-stdio-cli" });
  expect(payload).toMatchObject({ sub: "alice", org_id: "local", scope: "sandbox:connect sandbox:exec" });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

test("every claim can be given", async () => {
  const args = ["--sub", "bob", "--org", "acme", "--scope", "sandbox:admin", "--expires", "60", "--aud", "other"];
  const made = await token(temporaryDirectory(), [...args, "--issuer", "http://elsewhere", "--name", "Bobby"]);
  const claims = decodeJwt(made);
  expect(claims).toMatchObject({
    sub: "bob",
    org_id: "acme",
    scope: "sandbox:admin",
    aud: "other",
    client_id: "other",
    iss: "http://elsewhere",
    name: "Bobby",
  });
  expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(60);
});

test("a negative lifetime makes a token that expired that long ago, and empty claims are left out", async () => {
  const claims = decodeJwt(await token(temporaryDirectory(), ["--expires", "-60", "--org", "", "--scope", ""]));
  const secondsAgo = Date.now() / 1000 - (claims.exp ?? 0);
  expect(secondsAgo).toBeGreaterThanOrEqual(60);
  expect(secondsAgo).toBeLessThan(90);
  expect(claims).not.toHaveProperty("org_id");
  expect(claims).not.toHaveProperty("scope");
});

test("the issuer is that of the run that lives, and after it of the last one", async () => {
  const dir = temporaryDirectory();
  const record = { pid: process.pid, origin: "http://localhost:1", issuer: "http://127.0.0.1:9001", startedAt: 1 };
  writeRunRecord(dir, record);
  expect(decodeJwt(await token(dir)).iss).toBe("http://127.0.0.1:9001");
});

test.each([
  ["a lifetime that is no number", ["--expires", "soon"]],
  ["an option that there is not", ["--nothing"]],
  ["an argument too many", ["more"]],
])("%s is wrong usage, exit code 2, and nothing is printed on stdout", async (_name, args) => {
  const run = promisify(execFile)(process.execPath, [SCRIPT, ...args], {
    env: { ...process.env, SBX_LOCAL_DIR: join(temporaryDirectory(), "none") },
  });
  await expect(run).rejects.toMatchObject({ code: 2, stdout: "" });
});
