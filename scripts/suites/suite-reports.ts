// What a run of the suites took and found, as a table for people and as the block of CONTRIBUTING.md. Pure.
import { cpus } from "node:os";
import type { Outcome } from "./counts.ts";

export interface SuiteReport extends Outcome {
  /** Name of the suite; `all` is the whole run, in which some suites ran at the same time. */
  readonly suite: string;
  readonly seconds: number;
}

const BLOCK = /(<!-- times -->\n)[\s\S]*?(<!-- \/times -->)/;

export function describeTimes(reports: readonly SuiteReport[]): string {
  const rows = reports.map(({ suite, passed, problems, seconds }) => {
    const columns = [String(passed).padStart(6), String(problems.length).padStart(6), seconds.toFixed(1).padStart(8)];
    return `${suite.padEnd(8)} ${columns.join("  ")}`;
  });
  return ["suite    passed  failed   seconds", ...rows].join("\n");
}

/** @param page The text of CONTRIBUTING.md. @returns It with these times in its block. @throws {Error} If it has no block. */
export function writeTimes(page: string, reports: readonly SuiteReport[], now = new Date()): string {
  if (!BLOCK.test(page)) throw new Error("CONTRIBUTING.md has no block <!-- times -->");
  const rows = reports.map(({ suite, passed, seconds }) => `| ${suite} | ${passed} | ${Math.round(seconds)} |`);
  const table = [
    `| ${now.toISOString().slice(0, 10)}, ${cpus().length} cores | tests | seconds |`,
    "|---|--:|--:|",
    ...rows,
  ];
  return page.replace(BLOCK, `$1${table.join("\n")}\n$2`);
}
