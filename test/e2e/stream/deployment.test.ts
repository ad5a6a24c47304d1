// A deployment under load: the Worker's code is replaced by another version while sessions run at full speed, twice, with all its
// objects dying in the middle. No byte is lost or doubled in either direction, and no exit.
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type System, startSystem } from "../../../packages/local/src/system/system.ts";
import { bundleFile } from "../../../packages/local/src/system/worker-bundle.ts";
import { type CliChild, exitCode, startCli } from "../support/clients/cli.ts";
import { fresh, type Person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const MIB = 1024 * 1024;
const INPUT = randomBytes(16 * MIB);
const LINES = 2_000_000;
const FLOOD = Buffer.from(Array.from({ length: LINES }, (_, i) => `${i + 1}\n`).join(""));
/** What a version says at /healthz, in the bundle's text. */
const CHECKED = '"host", "settings"';
const dir = mkdtempSync(join(tmpdir(), "sbx-deployment-"));
const bundle = bundleFile({ outDir: join(dir, "bundle") });
let own: System;

beforeAll(async () => {
  own = await startSystem({ dir, workerVars: { TENANT_CLAIM: "org_id" } });
});

afterAll(async () => {
  await own?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Puts other code in the Worker's place, and lets it take over as the platform does: the old objects are gone at once. */
async function deploy(version: string): Promise<void> {
  const code = readFileSync(bundle, "utf8");
  const other = code.replace(CHECKED, `"${version}", ${CHECKED}`);
  expect(other).not.toBe(code);
  writeFileSync(bundle, other);
  await own.restartWorker();
}

/** What a child has written so far, all of it kept: {@link MIB} times some. */
function output({ stdout }: CliChild): { bytes: number; all(): Buffer } {
  const chunks: Buffer[] = [];
  const seen = { bytes: 0, all: () => Buffer.concat(chunks) };
  stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    seen.bytes += chunk.length;
  });
  return seen;
}

test("a new version under load loses and doubles nothing: a transfer both ways, a flood, its exit", async () => {
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

  for (const version of ["second", "third"]) {
    const before = [echoed.bytes, flooded.bytes] as const;
    // On a busy machine one of them may be through before the other is.
    const moves = () =>
      echoed.bytes > Math.min(before[0] + MIB, INPUT.length - 1) &&
      flooded.bytes > Math.min(before[1] + MIB, FLOOD.length - 1);
    await until("both to be in full swing", moves, 60_000);
    await deploy(version);
  }
  expect([await echoEnd, await floodEnd]).toEqual([0, 7]);
  expect(sha256(echoed.all())).toBe(sha256(INPUT));
  expect(sha256(flooded.all())).toBe(sha256(FLOOD));
  const health = await fetch(`${own.origin}/healthz`);
  expect(await health.json()).toEqual({ ok: true, checked: ["second", "third", "host", "settings"] });
});
