// Bugs that were put into the core by hand, in a copy of it: random seeds miss them, and the exploration finds them. A copy is run by
// Node itself, since vitest has loaded the true core.

import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A change of the core. */
export type Change = {
  /** Below `src`. */
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
};

export type Mutant = Change & {
  /** What goes wrong, for people. */
  readonly bug: string;
  /** The scenario that finds it, and how many faults that takes. */
  readonly scenario: string;
  readonly faults: number;
  /** What it then says. */
  readonly finds: string;
};

const HANDED_ON = "a page that hands its input on, by a clock that jumps";

export const MUTANTS: readonly Mutant[] = [
  {
    bug: "R10: after a clock was set back, a reloaded page counts as held up on its way for good",
    file: "wire/attempt.ts",
    right: "return earlierMs > 0 && earlierMs < MAX_DELAY_MS;",
    wrong: "return earlierMs > 0;",
    scenario: HANDED_ON,
    faults: 1,
    finds: "delayed: this client",
  },
  {
    bug: "R10: two lives that began at the same instant count as one, and the later one's first connection as an old one",
    file: "wire/attempt.ts",
    right: "if (attempt.life === newest.life) return",
    wrong: "if (bornAtMs(attempt.life) === bornAtMs(newest.life)) return",
    scenario: HANDED_ON,
    faults: 2,
    finds: "delayed: this client",
  },
  {
    bug: "R6b: a page that hands its input on does not say where that starts",
    file: "client/input-sender.ts",
    right: "return { offset: this.#isAnchored ? this.#acked : undefined, length: bytes.length, bytes };",
    wrong: "return { offset: undefined, length: bytes.length, bytes };",
    scenario: HANDED_ON,
    faults: 1,
    finds: "input of party 0 that it never wrote",
  },
];

const PACKAGE = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Copies the core and its simulation, changed so, and runs an entry below `test`. @returns Its exit code, and all that it said. */
export async function runMutated(
  changes: readonly Change[],
  entry: string,
  ...args: readonly string[]
): Promise<{ code: number | null; said: string }> {
  const root = mkdtempSync(join(tmpdir(), "sbx-mutant-"));
  try {
    const copy = join(root, "packages/sandbox-stdio");
    for (const part of ["src", "test/exploration", "test/model", "test/simulation"])
      cpSync(join(PACKAGE, part), join(copy, part), { recursive: true });
    const random = join(root, "packages/local/src/base/random.ts");
    mkdirSync(dirname(random), { recursive: true });
    cpSync(join(PACKAGE, "../local/src/base/random.ts"), random);
    writeFileSync(join(root, "package.json"), '{"type":"module"}');
    for (const { file, right, wrong } of changes) {
      const path = join(copy, "src", file);
      const text = readFileSync(path, "utf8");
      if (text.split(right).length !== 2) throw new Error(`${file} does not have once: ${right}`);
      writeFileSync(
        path,
        text.replace(right, () => wrong),
      );
    }
    const child = spawn(process.execPath, [join(copy, "test", entry), ...args]);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    }
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    return { code, said };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
