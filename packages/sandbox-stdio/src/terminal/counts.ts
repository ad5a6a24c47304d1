// Control sequences that repeat their effect as often as their first parameter says, limited to what a screen can show.
// A program may print any number, and some terminals count up to it one by one.

export type ScreenSize = { readonly cols: number; readonly rows: number };

/** The repeated unit. */
export type CountUnit = "rows" | "cols" | "cells";

/** By intermediates and final byte. Sequences with a private marker are not counts. */
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
  ["^", "rows"], // SD, as ECMA-48 has it
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

/** Highest count that makes a difference on a screen of this size. */
export function maxCountOf(unit: CountUnit, { cols, rows }: ScreenSize): number {
  return unit === "rows" ? rows : unit === "cols" ? cols : cols * rows;
}

/**
 * @param text Marker, parameters, intermediates and final byte of a CSI.
 * @returns The sequence with its count limited to the screen; undefined if it needs no change.
 */
export function withinScreen(text: string, size: ScreenSize): string | undefined {
  if (!FINALS.has(text.slice(-1))) return undefined;
  const [, count, name] = COUNTING.exec(text) ?? [];
  const unit = name === undefined ? undefined : COUNTS.get(name);
  if (count === undefined || unit === undefined) return undefined;
  const most = maxCountOf(unit, size);
  return Number(count) > most ? `\x1b[${most}${text.slice(count.length)}` : undefined;
}
