// The Worker's lives while sessions run at full speed: a workerd that crashes under `npm start` comes up again by itself, and a
// deployment replaces the code, with all objects dying in the middle. No byte is lost or doubled in either direction, and no exit.
import { createHash, randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { partsIn } from "../../../packages/local/src/system/installed.ts";
import { type System, startSystem } from "../../../packages/local/src/system/system.ts";
import { type CliChild, exitCode, startCli } from "../support/clients/cli.ts";
import { namedInGroup } from "../support/system/processes.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { LIMIT_MS, until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const RESTART_MS = 120_000;
const INPUT = randomBytes(8 * MIB);
const LINES = 1_500_000;
const FLOOD = Buffer.from(Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join(""));
/** What a version says at /healthz, in the bundle's text. */
const CHECKED = '"host", "settings"';
const dir = mkdtempSync(join(tmpdir(), "sbx-lives-"));
const parts = join(dir, "parts");
const revivals: string[] = [];
let own: System;

beforeAll(async () => {
  // Of its own: it is written to.
  cpSync(inject("parts") ?? "", parts, { recursive: true });
  const onRevival = (line: string) => void revivals.push(line);
  own = await startSystem({ dir, parts, workerVars: { TENANT_CLAIM: "org_id" }, onRevival });
});

afterAll(async () => {
  await own?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Puts other code in the Worker's place, and lets it take over as the platform does: the old objects are gone at once. */
async function deploy(version: string): Promise<void> {
  const file = partsIn(parts).worker;
  const code = readFileSync(file, "utf8");
  const other = code.replace(CHECKED, `"${version}", ${CHECKED}`);
  expect(other).not.toBe(code);
  writeFileSync(file, other);
  await own.restartWorker();
}

/** Ends workerd alone, and waits until it is up again. */
async function crash(): Promise<void> {
  for (const pid of namedInGroup("workerd", own.pids.worker)) process.kill(pid, "SIGKILL");
  await until("the Worker", () => revivals.includes("The Worker is up again"), RESTART_MS);
}

/** What a child has written so far, all of it kept. */
function output({ stdout }: CliChild): { bytes: number; all(): Buffer } {
  const chunks: Buffer[] = [];
  const seen = { bytes: 0, all: () => Buffer.concat(chunks) };
  stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    seen.bytes += chunk.length;
  });
  return seen;
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("a crash and a new version under load lose and double nothing: a transfer both ways, a flood, its exit", {
  timeout: 3 * RESTART_MS,
}, async () => {
  const failures: string[] = [];
  void own.failed.then((message) => failures.push(message));
  const [sub, org] = [fresh("person"), fresh("org")];
  const who: Person = { sub, org, token: await own.mintToken({ sub, org, expires: 3_600 }) };
  const run = (...words: string[]) => startCli(who, words, undefined, own.origin);
  const echo = run("--", "cat");
  const echoed = output(echo);
  const echoEnd = exitCode(echo);
  echo.stdin.end(INPUT);
  const flood = run("--session", fresh("flood"), "--", "sh", "-c", `seq ${LINES}; exit 7`);
  const flooded = output(flood);
  const floodEnd = exitCode(flood);

  for (const interrupt of [crash, () => deploy("second")]) {
    const before = [echoed.bytes, flooded.bytes] as const;
    // On a busy machine one of them may be through before the other is.
    const moves = () =>
      echoed.bytes > Math.min(before[0] + MIB, INPUT.length - 1) &&
      flooded.bytes > Math.min(before[1] + MIB, FLOOD.length - 1);
    await until("both to be in full swing", moves, LIMIT_MS, 10);
    await interrupt();
  }
  expect([await echoEnd, await floodEnd]).toEqual([0, 7]);
  expect(sha256(echoed.all())).toBe(sha256(INPUT));
  expect(sha256(flooded.all())).toBe(sha256(FLOOD));
  const health = await fetch(`${own.origin}/healthz`);
  expect(await health.json()).toEqual({ ok: true, checked: ["second", "host", "settings"] });
  expect([failures, revivals.length]).toEqual([[], 2]);
});
