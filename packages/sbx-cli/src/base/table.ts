// A server's list, as lines of text for a person. Pure.

import { oneLine } from "./plain-text.ts";

const GAP = "  ";

/**
 * Columns as wide as their texts. The first row is the heading.
 * @param columns How wide it may be: the last column is cut to that, but for its heading. Absent: as wide as it is.
 */
export function table(whole: readonly (readonly string[])[], columns = Number.POSITIVE_INFINITY): string {
  const headings = whole[0] ?? [];
  const widths = headings.map((_, column) => Math.max(...whole.map((row) => row[column]?.length ?? 0)));
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.max(headings.at(-1)?.length ?? 0, columns - before);
  const rows = whole.map((row) => [...row.slice(0, -1), cut(row.at(-1) ?? "", room)]);
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join(GAP)
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** A value that a server sent, on one line; empty where it is neither text nor number. */
export function cellText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? oneLine(String(value)) : "";
}
