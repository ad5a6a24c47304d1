// What a check is, how checks are run side by side, and how they are told.

import { readFileSync } from "node:fs";

export type Check<Subject> = {
  /** Letters and numbers of the rules in PROTOCOL.md. */
  readonly rules: readonly string[];
  /** What is right, as one sentence. */
  readonly title: string;
  /** @throws {Error} What was wrong. */
  run(subject: Subject): Promise<void>;
};

export type Result = {
  readonly subject: string;
  readonly rules: readonly string[];
  readonly title: string;
  /** Absent: it holds. */
  readonly fault?: string;
  readonly ms: number;
};

/** Checks at once: each waits most of the time. */
const SIDE_BY_SIDE = 3;

export async function runChecks<Subject>(
  name: string,
  subject: Subject,
  checks: readonly Check<Subject>[],
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < checks.length; index = next++) {
      const check = checks[index];
      if (check !== undefined) results[index] = await runCheck(name, subject, check);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  return results;
}

export async function runCheck<Subject>(name: string, subject: Subject, check: Check<Subject>): Promise<Result> {
  const { rules, title } = check;
  const startedAt = performance.now();
  const result = (rest: { fault?: string }) => {
    return { subject: name, rules, title, ms: Math.round(performance.now() - startedAt), ...rest };
  };
  try {
    await check.run(subject);
    return result({});
  } catch (error) {
    return result({ fault: error instanceof Error ? error.message : String(error) });
  }
}

/** @throws {Error} If they are not the same. */
export function same(what: string, got: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: ${a?.slice(0, 200)}, not ${b?.slice(0, 200)}`);
}

/** @throws {Error} If it does not hold. */
export function holds(what: string, is: boolean): void {
  if (!is) throw new Error(what);
}

export function tableOf(results: readonly Result[]): string {
  const rows = results.map(({ subject, rules, title, fault, ms }) => [
    subject,
    rules.join(" "),
    fault === undefined ? "holds" : "BROKEN",
    fault === undefined ? title : `${title}: ${fault}`,
    `${ms} ms`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(([a = "", b = "", c = "", d = "", e = ""]) => {
    const [first = 0, second = 0, third = 0] = widths;
    return `${a.padEnd(first)}  ${b.padEnd(second)}  ${c.padEnd(third)}  ${d}  (${e})`;
  });
  const broken = results.filter(({ fault }) => fault !== undefined).length;
  return [...lines, "", `${results.length - broken} of ${results.length} checks hold`].join("\n");
}

/** The published vectors, read. */
export function vectorsOf(name: "frames" | "messages" | "resume"): Record<string, unknown> {
  return JSON.parse(readFileSync(new URL(`../../../sandbox-stdio/vectors/${name}.json`, import.meta.url), "utf8"));
}

/** Messages that a side may send, and the fault of every other. */
export type Sayings = {
  readonly valid: readonly string[];
  readonly invalid: readonly { text: string; fault: string }[];
};
