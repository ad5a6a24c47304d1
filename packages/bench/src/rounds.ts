// Rounds of measurements: each subject in turn, so that a machine that slows down slows them all.

import { setTimeout as pause } from "node:timers/promises";
import type { Measure } from "./measures.ts";
import { isMeasured, PEERS } from "./measures.ts";
import { show } from "./numbers.ts";
import { type SubjectName, startSubject } from "./subjects.ts";

/** A bridge compiles its way of a key in the first 1.5 s, which is no part of a measurement's subject. */
const SETTLE_MS = 2_000;

/** Every value measured, by row and subject. */
export type Results = Map<string, Map<SubjectName, number[]>>;

export type RoundsOptions = {
  readonly rounds: number;
  readonly measures: readonly Measure[];
  readonly subjects: readonly SubjectName[];
  /** Of the full measurement, up to 1. */
  readonly share: number;
  /** No measurement begins after this time, as performance.now(). */
  readonly untilMs?: number;
};

export async function runRounds({ rounds, measures, subjects, share, untilMs }: RoundsOptions): Promise<Results> {
  const results: Results = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const measure of measures) {
      for (const name of subjects) {
        if (!isMeasured(measure, name)) continue;
        if (untilMs !== undefined && performance.now() >= untilMs) return results;
        const result = await measureOne(name, measure, share);
        for (const [row, value] of Object.entries(result ?? {})) {
          const bySubject = results.get(row) ?? new Map<SubjectName, number[]>();
          results.set(row, bySubject);
          bySubject.set(name, [...(bySubject.get(name) ?? []), value]);
          console.error(`${round + 1} ${name}: ${row} ${show(value)}`);
        }
      }
    }
  }
  return results;
}

async function measureOne(name: SubjectName, measure: Measure, share: number) {
  const subject = await startSubject(name).catch((error: unknown) => {
    if (!PEERS.includes(name)) throw error;
    console.error(`${name} is left out: ${error instanceof Error ? error.message : error}`);
  });
  if (subject === undefined) return undefined;
  try {
    await pause(SETTLE_MS);
    return await measure(subject, share);
  } finally {
    await subject.stop();
  }
}
