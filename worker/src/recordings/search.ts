// The search through a recording (G5), a limited part of it at a time.

import { compilePattern } from "@sbx/api/patterns";
import { defined } from "sandbox-stdio/core";
import type { SearchTarget } from "sandbox-stdio/programs";
import { gapsWithin, type Hit, LineSearch } from "sandbox-stdio/recording";
import { type ProgramAnswer, refused } from "../programs/operations/call.ts";
import type { RecordingReading } from "./reading.ts";

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_MS = 5_000;

export type SearchAsked = {
  readonly text?: string | undefined;
  readonly match?: string | undefined;
  readonly flags?: string | undefined;
  readonly from?: number | undefined;
  readonly limit: number;
};

export function targetOf({ text, match = "", flags }: SearchAsked): SearchTarget | ProgramAnswer {
  if (text !== undefined) return { kind: "text", text };
  const compiled = compilePattern(match, flags);
  return compiled.ok ? { kind: "pattern", program: compiled.program } : refused(400, "bad_pattern", compiled.message);
}

export async function searched(
  reading: RecordingReading,
  target: SearchTarget,
  { from, limit }: Pick<SearchAsked, "from" | "limit">,
): Promise<ProgramAnswer> {
  const { segments, index } = reading;
  const start = from ?? segments[0]?.from ?? 0;
  if (start > index.end) return refused(400, "bad_offset", `the recording ends at ${index.end}`, { end: index.end });
  const search = new LineSearch(target, start);
  const hits: Hit[] = [];
  const untilMs = Date.now() + MOST_MS;
  let bytes = 0;
  let at = Math.max(
    0,
    segments.findLastIndex((segment) => segment.from <= start),
  );
  let isFull = false;
  for (; at < segments.length && !isFull && bytes < MOST_BYTES && Date.now() < untilMs; at += 1) {
    const segment = await reading.segment(at);
    if (segment === undefined) continue;
    bytes += segment.bytes.length;
    isFull = !search.read(segment, hits, limit);
  }
  const isDone = at >= segments.length && !isFull && search.end(hits, limit);
  const searchedTo = isDone ? index.end : search.searchedTo;
  const [gap] = gapsWithin(segments, start, searchedTo);
  const told = hits.map(({ offset, atMs, line }) => ({ offset, time: new Date(atMs).toISOString(), line }));
  const next = isDone ? undefined : searchedTo;
  return { status: 200, body: { hits: told, searchedTo, ...defined({ next, gap }) } };
}
