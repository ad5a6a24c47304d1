// What `npm start` runs, as it is built: `serve` where anybody may be anybody, and nothing outlives it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, inject, onTestFinished, test } from "vitest";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { tokenMinter } from "../../../packages/local/src/issuer/tokens.ts";
import { livingRuns } from "../../../packages/local/src/system/claim.ts";
import { allProcesses, isAlive } from "../support/system/processes.ts";
import { knock, Visitor } from "../support/system/served.ts";
import { until } from "../support/system/wait.ts";

const SCRIPT = `
const [serve, dir, port] = process.argv.slice(1);
const { runLocal } = await import(serve);
const local = { keysDir: dir, accessTokens: "jwt", welcome: (origin) => "up at " + origin };
const wrong = await runLocal({ port: Number(port), state: dir }, local);
console.log(wrong ?? "ended well");
`;

async function start(dir: string, port: number): Promise<{ child: ChildProcess; said: () => string }> {
  const serve = pathToFileURL(join(inject("parts") ?? "", "serve.mjs")).href;
  const words = ["--input-type=module", "-e", SCRIPT, serve, dir, String(port)];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  await until("it to be up", () => said.includes("up at") || child.exitCode !== null);
  return { child, said: () => said };
}

/** The guard, the bridge and workerd. */
const childrenOf = ({ pid }: ChildProcess): number[] =>
  allProcesses()
    .filter(({ parent }) => parent === pid)
    .map((facts) => facts.pid);

test("anybody signs in, a sandbox is a folder of the state, and however it ends nothing is left running", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sbx-start-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const port = await anyFreePort();
  const origin = `http://localhost:${port}`;
  const first = await start(dir, port);
  expect([first.said(), livingRuns(dir)]).toEqual([`up at ${origin}\n`, [origin]]);

  const visitor = new Visitor(origin);
  await visitor.login({ user: "bob", org: "acme" });
  expect(await visitor.me()).toMatchObject({ authenticated: true, subject: "bob" });
  // A path of the issuer's is a preview's own under a preview's name.
  const headers = { Host: `${"a".repeat(40)}.localhost:${port}` };
  expect(await knock(port, { path: "/me", headers })).toEqual({ status: 401 });
  expect(await knock(port, { path: "/me", headers: { Host: `evil.test:${port}` } })).toEqual({ status: 403 });

  const mint = await tokenMinter({ keysDir: dir, issuerUrl: origin });
  const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const headers = { Authorization: `Bearer ${await mint()}`, "Content-Type": "application/json" };
    const url = `${origin}/api/sandboxes/dev/${path}`;
    return (await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json()) as never;
  };
  const ran = await ask("run", { cmd: "sh", args: ["-c", "pwd; setsid sleep 1000 >&- 2>&- & echo $!; exit 7"] });
  const [folder, left] = String(ran.stdout).split("\n");
  expect([ran.exit, folder]).toEqual([{ code: 7 }, expect.stringContaining(join(dir, "sandboxes/dev-"))]);

  const parts = childrenOf(first.child);
  expect([isAlive(Number(left)), parts.length]).toEqual([true, 3]);
  first.child.kill("SIGKILL");
  await until("its parts and what it ran to end", () => ![...parts, Number(left)].some(isAlive));
  expect(livingRuns(dir)).toEqual([]);

  const second = await start(dir, port);
  const others = childrenOf(second.child);
  expect(others.length).toBe(parts.length);
  second.child.kill("SIGTERM");
  await once(second.child, "close");
  expect(second.said()).toBe(`up at ${origin}\nended well\n`);
  // The guard goes last.
  await until("its parts to end", () => !others.some(isAlive));
});
