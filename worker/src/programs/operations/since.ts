// When output came (D2a): the offset where output of a time or later begins, and the times of a range. By the bridge's index of times, live or as it was kept at the end.

import type { InnerClient } from "sandbox-stdio/core";
import { marksWithin, offsetSince, readTimeIndex } from "sandbox-stdio/programs";
import type { SessionRecord } from "../../records/session-store.ts";
import { askProcess, type Kept, keptState } from "./ask-process.ts";
import type { Reached } from "./reached.ts";

/** The last moment that a Date can be. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/** A process that runs for no longer has put out all at about the time of its start. */
export const SHORT_LIFE_MS = 5_000;

/** The parts of the session that the search needs beside its log. */
export interface SincePorts {
  readonly hop: InnerClient;
  kept(): Kept;
  readonly record: Pick<SessionRecord, "createdAt" | "exitedAtMs"> | undefined;
}

/** Never after the first such byte. Without an index (the process ended within seconds) it is the start or the end of the log. */
export async function offsetAt(reached: Reached, sinceMs: number, ports: SincePorts): Promise<number> {
  const end = reached.log.endOffset;
  if (ports.record?.exitedAtMs !== undefined && sinceMs > ports.record.exitedAtMs) return end;
  const index = await indexOf(reached, ports);
  return index === undefined ? 0 : Math.min(offsetSince(index, sinceMs, end), end);
}

export type OutputTime = { readonly offset: number; readonly at: string };

/**
 * When the bytes of a range came; each time applies up to the next one's offset. For a process that ended within seconds it is its
 * start. undefined if there are bytes but no index of them.
 */
export async function timesOf(
  reached: Reached,
  { from, next }: { readonly from: number; readonly next: number },
  ports: SincePorts,
): Promise<OutputTime[] | undefined> {
  const { createdAt, exitedAtMs } = ports.record ?? {};
  const madeAtMs = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  const isShort = exitedAtMs !== undefined && exitedAtMs - madeAtMs <= SHORT_LIFE_MS;
  const usual = isShort ? [[0, madeAtMs] as const] : [];
  const marks = (await indexOf(reached, ports))?.marks ?? [];
  const told = marksWithin(marks.length === 0 ? usual : marks, from, next);
  if (told.length === 0 && next > from) return undefined;
  return told.map(([offset, atMs]) => ({ offset, at: isoTime(atMs) }));
}

async function indexOf(reached: Reached, ports: SincePorts) {
  const text = reached.state === "running" ? await askProcess(ports.hop, { about: "commands" }) : ports.kept().commands;
  return readTimeIndex(keptState(text)?.times);
}

/** The bridge's clock may say anything. */
function isoTime(atMs: number): string {
  return new Date(Math.min(atMs, MAX_DATE_MS)).toISOString();
}
