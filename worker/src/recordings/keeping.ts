// Retention of a session object's recordings, their listing (G2, G6), and the check of key frames.

import { defined } from "sandbox-stdio/core";
import { gapsWithin, type KeyFrame } from "sandbox-stdio/recording";
import type { RecordingListing, StoredSegment } from "../attach/recording-calls.ts";
import { type RecordingFacts, type RecordingStore, TOMBSTONE_MS } from "./store.ts";

/** Newest first. */
export function listed(store: RecordingStore): RecordingListing[] {
  const kept = store.all().filter(({ removedAtMs }) => removedAtMs === undefined);
  return kept.map(({ incarnation, startedAtMs, endedAtMs, bytes, held, to }) => {
    const segments = store.segments(incarnation);
    const [gap] = gapsWithin(segments, 0, to);
    const endMs = endedAtMs ?? segments.at(-1)?.toMs ?? startedAtMs;
    return {
      ...{ incarnation, startedAt: iso(startedAtMs), bytes },
      seconds: Math.max(0, Math.round((endMs - startedAtMs) / 1000)),
      ...defined({
        endedAt: endedAtMs === undefined ? undefined : iso(endedAtMs),
        gap,
        held: held && { reason: held.reason, by: held.by, at: iso(held.atMs) },
      }),
    };
  });
}

/** Drops the oldest segments of recordings that are not held. @returns Whether the held recordings alone exceed the limit. */
export function makeRoom(store: RecordingStore, maxBytes: number, only?: string): boolean {
  const kept = store.all();
  let excess = kept.reduce((sum, { bytes }) => sum + bytes, 0) - maxBytes;
  for (const facts of kept.toReversed()) {
    if (excess <= 0) return false;
    if (facts.held !== undefined || (only !== undefined && only !== facts.incarnation)) continue;
    const dropped: StoredSegment[] = [];
    for (const segment of store.segments(facts.incarnation)) {
      if (excess <= 0) break;
      dropped.push(segment);
      excess -= segment.bytes;
    }
    store.drop(facts, dropped);
  }
  return excess > 0;
}

/** When the oldest output expires; infinity for never. */
export function expiryMs(store: RecordingStore, keptMs: number): number {
  const due = store.all().map(({ incarnation, removedAtMs, held, endedAtMs = Number.POSITIVE_INFINITY }) => {
    if (removedAtMs !== undefined) return removedAtMs + TOMBSTONE_MS;
    return held === undefined ? (store.oldest(incarnation)?.toMs ?? endedAtMs) + keptMs : Number.POSITIVE_INFINITY;
  });
  return Math.min(Number.POSITIVE_INFINITY, ...due);
}

/** Drops segments that have expired. @returns The recordings that are empty now. */
export function expire(store: RecordingStore, nowMs: number, keptMs: number): RecordingFacts[] {
  const keptFromMs = nowMs - keptMs;
  return store.all().filter((facts) => {
    const { incarnation, removedAtMs, held, endedAtMs = Number.POSITIVE_INFINITY } = facts;
    if (removedAtMs !== undefined && removedAtMs + TOMBSTONE_MS <= nowMs) store.forget(incarnation);
    if (removedAtMs !== undefined || held !== undefined) return false;
    const segments = store.segments(incarnation);
    const old = segments.filter(({ toMs }) => toMs <= keptFromMs);
    if (old.length > 0) store.drop(facts, old);
    return endedAtMs <= keptFromMs && old.length === segments.length;
  });
}

/** The bridge is in the sandbox: its answer may be anything. Only a screen that is whole and exact is a key frame. */
export function frameOf(state: Readonly<Record<string, unknown>> | undefined): KeyFrame | undefined {
  const { offset, cols, rows, ansi, approximate, partial } = state ?? {};
  if (typeof ansi !== "string" || approximate === true || partial === true) return undefined;
  if (!isWhole(offset) || !isWhole(cols) || !isWhole(rows) || cols < 1 || rows < 1) return undefined;
  return { offset, cols, rows, ansi: new TextEncoder().encode(ansi) };
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
