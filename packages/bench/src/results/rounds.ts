// Rounds of measurements: each subject in turn, so that a machine that slows down slows them all.

import { setTimeout as pause } from "node:timers/promises";
import { inTime } from "../base/in-time.ts";
import { show } from "../base/numbers.ts";
import type { Measure } from "../measures/measures.ts";
import { isMeasured, PEERS } from "../measures/measures.ts";
import { type SubjectName, startSubject } from "../subjects/subjects.ts";
import { closeTerminals } from "../subjects/terminal.ts";

/** What a start leaves to be done is no part of a measurement's subject. */
const SETTLE_MS = 2_000;
/** The longest measurement, over slow links, takes a third of it. */
const LIMIT_MS = 300_000;

/** Every value measured, by row and subject. */
export type Results = Map<string, Map<SubjectName, number[]>>;

export type Planned = {
  readonly measure: Measure;
  readonly subjects: readonly SubjectName[];
  /** Share of the full measurement, up to 1. */
  readonly share: number;
  /** One that takes longer is given up, and the next goes on. */
  readonly limitMs?: number;
};

export type RoundsOptions = {
  readonly rounds: number;
  readonly plan: readonly Planned[];
  /** No measurement begins after this time, as performance.now(). */
  readonly untilMs?: number;
};

export async function runRounds({ rounds, plan, untilMs }: RoundsOptions): Promise<Results> {
  const results: Results = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const planned of plan) {
      for (const name of planned.subjects) {
        if (!isMeasured(planned.measure, name)) continue;
        if (untilMs !== undefined && performance.now() >= untilMs) return results;
        const result = await measureOne(name, planned);
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

async function measureOne(name: SubjectName, { measure, share, limitMs = LIMIT_MS }: Planned) {
  const subject = await startSubject(name).catch((error: unknown) => {
    if (!PEERS.includes(name)) throw error;
    console.error(`${name} is left out: ${error instanceof Error ? error.message : error}`);
  });
  if (subject === undefined) return undefined;
  await pause(SETTLE_MS);
  try {
    return await inTime(measure(subject, share), limitMs);
  } catch (error) {
    // One of a run of half an hour and more: the others count.
    console.error(`${name}: ${measure.name} is left out: ${error instanceof Error ? error.message : error}`);
    return undefined;
  } finally {
    closeTerminals();
    await subject.stop();
  }
}
