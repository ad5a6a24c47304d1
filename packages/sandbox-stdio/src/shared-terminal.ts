// Rules of one PTY with many emulators around it: whose size it has, and which of them answers its queries.

import type { TerminalSize } from "./client-record.ts";
import type { Floor, Mode } from "./floor.ts";
import type { Roster } from "./roster.ts";

/** The holder, else the longest attached driver, is the one whose emulator answers terminal queries. "": nobody. */
export function answererOf(roster: Roster, floor: Floor): string {
  const holder = roster.get(floor.holder);
  if (holder !== undefined && holder.presence.phase !== "absent") return holder.id;
  let chosen: { readonly id: string; readonly order: number } | undefined;
  for (const client of roster.present()) {
    if (client.role === "driver" && (chosen === undefined || client.order < chosen.order)) chosen = client;
  }
  return chosen?.id ?? "";
}

/** Exclusive: the holder's size. Collaborative: the smallest among drivers that gave one. undefined: nobody's. */
export function fittedSize(roster: Roster, floor: Floor, mode: Mode): TerminalSize | undefined {
  const holder = roster.get(floor.holder);
  let fitted: TerminalSize | undefined;
  for (const client of roster.present()) {
    if (client.role !== "driver" || client.size === undefined) continue;
    if (mode === "exclusive" && client !== holder) continue;
    fitted =
      fitted === undefined
        ? client.size
        : { cols: Math.min(fitted.cols, client.size.cols), rows: Math.min(fitted.rows, client.size.rows) };
  }
  return fitted;
}
