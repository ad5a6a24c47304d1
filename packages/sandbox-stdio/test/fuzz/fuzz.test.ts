// Every decoder against inputs that nobody meant: what must hold of any answer holds. `FUZZ_RUNS=N` runs each decoder that
// often, `FUZZ_SEED=S` from another seed; `FUZZ_KEEP=1` adds the inputs that made one do something new to the corpus.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { Random } from "../../../local/src/base/random.ts";
import { mutate } from "./mutate.ts";
import { TARGETS, type Target } from "./targets.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 2_000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const MAX_INPUT_BYTES = 20_000;
const MAX_POOLED_BYTES = 4_000;
const CORPUS = join(import.meta.dirname, "corpus");

function corpusOf({ name, seeds }: Target): Uint8Array[] {
  const dir = join(CORPUS, name.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
  const kept = existsSync(dir) ? readdirSync(dir).map((file) => new Uint8Array(readFileSync(join(dir, file)))) : [];
  return [...seeds.map((seed) => (typeof seed === "string" ? Buffer.from(seed, "latin1") : seed)), ...kept];
}

function keep({ name }: Target, input: Uint8Array): void {
  const dir = join(CORPUS, name.replaceAll(/[^a-zA-Z0-9]+/g, "-"));
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, createHash("sha256").update(input).digest("hex").slice(0, 16)), input);
}

function checked(target: Target, input: Uint8Array, what: string): string {
  try {
    return target.check(input);
  } catch (error) {
    const text = JSON.stringify(Buffer.from(input).toString("latin1").slice(0, 2_000));
    throw new Error(`${what}: ${error instanceof Error ? error.message : error}\nfor ${text}`, { cause: error });
  }
}

afterAll(() => noteCounts({ "inputs for each decoder": RUNS, "inputs in all": RUNS * TARGETS.length }));

describe.each(TARGETS)("$name", (target) => {
  test(`answer as they should to the corpus, and to ${RUNS} inputs made of it, from seed ${SEED}`, {
    timeout: 300_000 + RUNS,
  }, () => {
    const random = new Random(SEED);
    const pool = corpusOf(target);
    const kinds = new Set(pool.map((input, i) => checked(target, input, `corpus ${i}`)));
    const known = kinds.size;
    for (let run = 0; run < RUNS; run += 1) {
      const input = mutate(pool, random, MAX_INPUT_BYTES);
      const kind = checked(target, input, `seed ${SEED}, run ${run}`);
      if (kinds.has(kind)) continue;
      // What made it do something new is worth changing further, if it is not so long already that all become as long as they may.
      kinds.add(kind);
      if (input.length <= MAX_POOLED_BYTES) pool.push(input);
      if (process.env.FUZZ_KEEP === "1") keep(target, input);
    }
    // A run in which all is refused alike tries nothing.
    expect(kinds.size).toBeGreaterThanOrEqual(Math.max(2, known));
  });
});
