// The lines that writers type: each says whose it is, which one it is, and ends in its own marker. Checked where they come out. Pure.

import type { Random } from "../../../local/src/base/random.ts";
import type { Report } from "./report.ts";

const MOST_FILLING = 2_000;

/** Line `n` of `writer`, with a line feed. No two lines are the same, and none is within another. */
export function lineOf(writer: string, n: number, random: Random): string {
  return `<${writer}.${n}:${"x".repeat(random.scale(1, MOST_FILLING))}:${writer}.${n}>\n`;
}

/** A text that only line `n` of `writer` has. */
export function markerOf(writer: string, n: number): string {
  return `:${writer}.${n}>`;
}

/** A program's line, wherever it begins. */
const LINE = /<(p\d+)\.(\d+):x+:\1\.\2>\n/g;

/**
 * Checks that each program's lines came out whole, once and in order. A person's keys are no unit: the rest without the
 * programs' lines must be just those keys.
 */
export function checkLines(
  output: string,
  sent: ReadonlyMap<string, readonly string[]>,
  person: string,
  report: Report,
): void {
  const next = new Map<string, number>();
  const rest = output.replace(LINE, (line, writer: string, digits: string) => {
    const n = Number(digits);
    const due = next.get(writer) ?? 0;
    next.set(writer, n + 1);
    if (n < due) report.wrong(`line ${n} of ${writer} came out again or late, behind line ${due - 1}`);
    else if (n > due) report.wrong(`lines ${due} to ${n - 1} of ${writer} are missing`);
    if (sent.get(writer)?.[n] !== line) report.wrong(`line ${n} of ${writer} is not as it was typed`);
    return "";
  });
  for (const [writer, lines] of sent) {
    const due = next.get(writer) ?? 0;
    if (due < lines.length) report.wrong(`lines ${due} to ${lines.length - 1} of ${writer} are missing at the end`);
  }
  if (rest === person) return;
  let at = 0;
  while (rest[at] === person[at]) at += 1;
  report.wrong(
    `what the person typed differs from byte ${at} on: ${person.slice(at, at + 40)} came out as ${rest.slice(at, at + 40)}`,
  );
}
