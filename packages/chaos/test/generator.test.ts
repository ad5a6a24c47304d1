// The process of a run, run for real: what it writes to either stream, and what it says of what it reads.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BIN, ROOT } from "../../local/src/base/paths.ts";
import { bundledGenerator } from "../src/ground.ts";
import { patternBytes } from "../src/pattern.ts";
import { chunksOf, EXIT, type InputReport, keyOf, lengthsOf, type Work } from "../src/work.ts";

const BASE: Work = { seed: 3, outputBytes: 0, stderrShare: 0, chunkBytes: 5_000, input: "none", inputBytes: 0 };
const GENERATOR = [join(BIN, "bun"), join(ROOT, "packages/chaos/src/generator.ts")] as const;

type Result = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: Buffer };

async function generate(
  work: Work,
  input: Uint8Array = new Uint8Array(0),
  [program, ...args]: readonly [string, ...string[]] = GENERATOR,
): Promise<Result> {
  const child = spawn(program, [...args, JSON.stringify(work)]);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // One that reads nothing closes its end.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

test("it writes f(n) to both streams, as much to each as the plan says", async () => {
  const work = { ...BASE, outputBytes: 1_000_000, stderrShare: 0.4 };
  const { stdout, stderr } = lengthsOf(work);
  expect(stdout + stderr).toBe(1_000_000);
  expect(Math.min(stdout, stderr)).toBeGreaterThan(100_000);
  const result = await generate(work);
  expect(result.code).toBe(EXIT.good);
  expect(result.stdout.equals(patternBytes(0, stdout, keyOf(work.seed, "stdout")))).toBe(true);
  expect(result.stderr.equals(patternBytes(0, stderr, keyOf(work.seed, "stderr")))).toBe(true);
});

test("the plan of its writes is the same each time, and another one with another seed", () => {
  const work = { ...BASE, outputBytes: 50_000, stderrShare: 0.5 };
  expect([...chunksOf(work)]).toEqual([...chunksOf(work)]);
  expect([...chunksOf(work)]).not.toEqual([...chunksOf({ ...work, seed: 4 })]);
});

test("it writes back what it reads, and reports that it was right", async () => {
  const work: Work = { ...BASE, input: "echo", inputBytes: 300_000 };
  const input = patternBytes(0, 300_000, keyOf(work.seed, "stdin"));
  const result = await generate(work, input);
  expect(result.code).toBe(EXIT.good);
  expect(result.stdout.equals(input)).toBe(true);
  const report = JSON.parse(result.stderr.toString()) as InputReport;
  expect(report).toEqual({ received: 300_000, sha256: sha256(input), damages: [] });
});

test("it checks what it reads while it writes, and says what was wrong with it", async () => {
  const work: Work = { ...BASE, outputBytes: 200_000, stderrShare: 0.5, input: "check", inputBytes: 100_000 };
  const key = keyOf(work.seed, "stdin");
  const input = Buffer.concat([patternBytes(0, 40_000, key), patternBytes(41_000, 100_000, key)]);
  const result = await generate(work, input);
  expect(result.code).toBe(EXIT.badInput);
  const lengths = lengthsOf(work);
  expect(result.stdout.length).toBe(lengths.stdout);
  const report = JSON.parse(result.stderr.subarray(lengths.stderr).toString()) as InputReport;
  expect(report).toEqual({
    received: 99_000,
    sha256: sha256(input),
    damages: [{ kind: "lost", at: 40_000, bytes: 1_000 }],
  });
});

test("told to wait, it writes one chunk and the rest after a byte of input", async () => {
  const work: Work = { ...BASE, outputBytes: 100_000, input: "go", inputBytes: 1 };
  const first = [...chunksOf(work)][0]?.length;
  const child = spawn(GENERATOR[0], [GENERATOR[1], JSON.stringify(work)]);
  let received = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    received += chunk.length;
  });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  // Had it gone on by itself, it would have done so by the time that another one has begun and ended.
  await new Promise((resolve) => child.stdout.once("data", resolve));
  await generate({ ...work, input: "none" });
  expect(received).toBe(first);

  child.stdin.write("x");

  expect(await closed).toBe(EXIT.good);
  expect(received).toBe(100_000);
});

test("bundled to one text it does the same in Node", async () => {
  const work: Work = { ...BASE, outputBytes: 60_000, stderrShare: 0.3 };
  const source = await bundledGenerator();
  expect(source.length).toBeLessThan(8_000);

  const here = await generate(work);
  const bundled = await generate(work, undefined, [process.execPath, "-e", source]);
  expect(bundled.code).toBe(EXIT.good);
  expect(bundled.stdout.equals(here.stdout)).toBe(true);
  expect(bundled.stderr.equals(here.stderr)).toBe(true);
});
