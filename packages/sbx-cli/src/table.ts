// A server's list, as lines of text for a person. Pure.

import { oneLine } from "./plain-text.ts";

/** Columns as wide as their texts. The first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** A value that a server sent, on one line; empty where it is neither text nor number. */
export function cellText(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? oneLine(String(value)) : "";
}
