// The control sequences that repeat their effect as often as their first parameter says, and how often a screen can show it.
// A program may print any number; some terminals count up to it one by one.

export type ScreenSize = { readonly cols: number; readonly rows: number };

/** The repeated step: of one row, of one column, or of one cell. */
export type CountUnit = "rows" | "cols" | "cells";

/** By intermediates and final byte. A sequence with a private marker counts nothing. */
export const COUNTS: ReadonlyMap<string, CountUnit> = new Map<string, CountUnit>([
  ["A", "rows"], // CUU: cursor up
  ["B", "rows"], // CUD
  ["e", "rows"], // VPR
  ["k", "rows"], // VPB
  ["E", "rows"], // CNL
  ["F", "rows"], // CPL
  ["C", "cols"], // CUF: cursor forward
  ["D", "cols"], // CUB
  ["a", "cols"], // HPR
  ["j", "cols"], // HPB
  ["I", "cols"], // CHT: tab stops
  ["Z", "cols"], // CBT
  ["L", "rows"], // IL: lines
  ["M", "rows"], // DL
  ["S", "rows"], // SU: scroll
  ["T", "rows"], // SD
  ["@", "cols"], // ICH: characters
  ["P", "cols"], // DCH
  ["X", "cols"], // ECH
  [" @", "cols"], // SL: scroll left
  [" A", "cols"], // SR
  ["'}", "cols"], // DECIC: columns
  ["'~", "cols"], // DECDC
  ["b", "cells"], // REP: the last character again
]);

const COUNTING = /^(\d+)[\d;:]*([ -/]*[@-~])$/;
const FINALS: ReadonlySet<string> = new Set([...COUNTS.keys()].map((name) => name.slice(-1)));

/** The highest count that a screen of this size can tell from a higher one. */
export function mostOf(unit: CountUnit, { cols, rows }: ScreenSize): number {
  return unit === "rows" ? rows : unit === "cols" ? cols : cols * rows;
}

/**
 * @param text Marker, parameters, intermediates and final byte of a CSI.
 * @returns The sequence with a count that the screen can show; undefined where it was one.
 */
export function withinScreen(text: string, size: ScreenSize): string | undefined {
  if (!FINALS.has(text.slice(-1))) return undefined;
  const [, count, name] = COUNTING.exec(text) ?? [];
  const unit = name === undefined ? undefined : COUNTS.get(name);
  if (count === undefined || unit === undefined) return undefined;
  const most = mostOf(unit, size);
  return Number(count) > most ? `\x1b[${most}${text.slice(count.length)}` : undefined;
}
