// `npm run --silent token`, as scripts use it: its stdout, and the token's claims.
import { execFile, spawnSync } from "node:child_process";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { writePrivateFile } from "../../packages/local/src/base/files.ts";
import { startIssuer } from "../../packages/local/src/issuer/issuer.ts";
import { temporaryDirectory } from "../../packages/local/test/temporary.ts";

const SCRIPT = fileURLToPath(new URL("../token.ts", import.meta.url));

async function told(dir: string, args: string[] = [], more: Record<string, string> = {}) {
  const { PORT: _, ...inherited } = process.env;
  const env = { ...inherited, SBX_LOCAL_DIR: dir, ...more };
  return promisify(execFile)(process.execPath, [SCRIPT, ...args], { env });
}

async function token(dir: string, args: string[] = [], more: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr } = await told(dir, args, more);
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
  const { payload } = await jwtVerify(made, jwks, { issuer: "http://localhost:8787", audience: "sbx-stdio-cli" });
  expect(payload).toMatchObject({ sub: "alice", org_id: "local", scope: "sandbox:connect sandbox:exec" });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(3600);
});

test("every claim can be given, and empty ones are left out; a negative lifetime has expired that long ago", async () => {
  const args = ["--sub", "bob", "--org", "", "--scope", "sandbox:admin", "--expires", "-60", "--aud", "other"];
  const claims = decodeJwt(
    await token(temporaryDirectory(), [...args, "--issuer", "http://elsewhere", "--name", "Bobby"]),
  );
  const given = { sub: "bob", scope: "sandbox:admin", aud: "other", client_id: "other", iss: "http://elsewhere" };
  expect(claims).toMatchObject({ ...given, name: "Bobby" });
  expect(claims).not.toHaveProperty("org_id");
  expect(claims.exp ?? 0).toBeLessThanOrEqual(Date.now() / 1000 - 60);
});

test("of two runs the newest is meant and named, and the port chooses", async () => {
  const dir = temporaryDirectory();
  const issuer = (port: number) => `http://localhost:${port}`;
  const ended = spawnSync(process.execPath, ["-e", ""]).pid;
  for (const [pid, port, at] of [
    [process.pid, 9000, "."],
    [process.ppid, 9100, "also-9100"],
    [ended, 9200, "also-9200"],
  ] as const) {
    const file = join(dir, at, "server.json");
    writePrivateFile(file, JSON.stringify({ pid, origin: issuer(port) }));
    utimesSync(file, port, port);
  }
  const { stdout, stderr } = await told(dir);
  expect(decodeJwt(stdout.trim()).iss).toBe(issuer(9100));
  expect(stderr).toBe("for http://localhost:9100, the newest of 2 that run (another's: --port 9000)\n");
  expect(decodeJwt(await token(dir, ["--port", "9000"])).iss).toBe(issuer(9000));
  expect(decodeJwt(await token(dir, [], { PORT: "9000" })).iss).toBe(issuer(9000));
  expect(decodeJwt(await token(temporaryDirectory(), [], { PORT: "9000" })).iss).toBe(issuer(9000));
  // Where PORT is another program's, the newest is meant.
  expect(decodeJwt((await told(dir, [], { PORT: "80" })).stdout.trim()).iss).toBe(issuer(9100));
  await expect(told(dir, ["--port", "80"])).rejects.toMatchObject({
    code: 2,
    stderr: "error: no npm start runs at port 80, but at 9100, 9000\n",
  });
});

test.each([
  ["a lifetime that is no number", ["--expires", "soon"]],
  ["an argument too many", ["more"]],
])("%s is wrong usage, exit code 2, and nothing is printed on stdout", async (_name, args) => {
  const run = promisify(execFile)(process.execPath, [SCRIPT, ...args], {
    env: { ...process.env, SBX_LOCAL_DIR: join(temporaryDirectory(), "none") },
  });
  await expect(run).rejects.toMatchObject({ code: 2, stdout: "" });
});
