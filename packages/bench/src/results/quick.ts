// A short look: how far from their floors the bridge and the path are now, beside what docs/benchmark.md says. Ratios alone are
// compared, since machines differ; and nothing fails by them, since rounds do too.

import { median, show } from "../base/numbers.ts";
import type { SubjectName } from "../subjects/subjects.ts";
import type { Results } from "./rounds.ts";

/** Share of the full measurement, and the time limit of a quick run. */
export const QUICK_SHARE = 0.15;
export const QUICK_MS = 110_000;
export const QUICK_SUBJECTS: readonly SubjectName[] = ["bridge", "bridge floor", "path", "path floor"];

/** A row's ratio to its floor; undefined where there is none. */
type Ratios = { readonly bridge: number | undefined; readonly path: number | undefined };

/** The ratios of the table that a page holds, by row. */
function committedRatios(page: string): Map<string, Ratios> {
  const ratios = new Map<string, Ratios>();
  for (const line of page.split("\n")) {
    if (!line.startsWith("| ")) continue;
    const [row = "", , , bridge = "", , , path = ""] = line
      .slice(2)
      .split("|")
      .map((cell) => cell.trim());
    ratios.set(row, { bridge: numberOf(bridge), path: numberOf(path) });
  }
  return ratios;
}

/** Rows that are ratios by nature or say what went along with another row are left out. */
export function quickTable(results: Results, page: string): string {
  const committed = committedRatios(page);
  const lines = ["| x of its floor | bridge | committed | path | committed |", "|---|---:|---:|---:|---:|"];
  for (const [row, bySubject] of results) {
    const ratio = (name: SubjectName, floor: SubjectName) =>
      median(bySubject.get(name) ?? []) / median(bySubject.get(floor) ?? []);
    const before = committed.get(row);
    const cells = [ratio("bridge", "bridge floor"), before?.bridge, ratio("path", "path floor"), before?.path];
    lines.push(
      `| ${row.replace(/,? (ms|MB\/s|MB|ms\/MB)$/, "")} | ${cells.map((x) => show(x ?? Number.NaN)).join(" | ")} |`,
    );
  }
  return lines.join("\n");
}

function numberOf(cell: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : undefined;
}
