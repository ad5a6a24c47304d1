// Tables of text. Pure.

import { oneLine } from "./plain-text.ts";

const GAP = "  ";

/** Pads columns to their widest cell. The first row is the heading. @param columns Width to which the last column is cut. */
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

/** A server's value on one line; empty unless text or number. */
export function cellText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? oneLine(String(value)) : "";
}
