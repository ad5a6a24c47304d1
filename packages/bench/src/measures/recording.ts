// What recording a session costs: echo and output of the same server with and without it, in turn, as ratios.

import { median } from "../base/numbers.ts";
import type { OpenOptions, Subject } from "../subjects/subjects.ts";
import { outputCooked, outputRaw } from "./amounts.ts";
import { echoIdle } from "./latencies.ts";
import type { Result } from "./measuring.ts";

const ROUNDS = 5;
const SHARE = 0.25;

export async function recordingOn(subject: Subject, share = 1): Promise<Result> {
  const spec = (command: readonly string[], options?: OpenOptions) =>
    subject.spec(command, { ...options, isRecorded: true });
  const rows = new Map<string, { readonly on: number[]; readonly off: number[] }>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const how of round % 2 === 0 ? (["off", "on"] as const) : (["on", "off"] as const)) {
      for (const measure of [echoIdle, outputRaw, outputCooked]) {
        const result = await measure(how === "on" ? { ...subject, spec } : subject, SHARE * share);
        for (const [row, value] of Object.entries(result)) {
          const both = rows.get(row) ?? { on: [], off: [] };
          rows.set(row, both);
          both[how].push(value);
        }
      }
    }
  }
  const ratios = [...rows].map(([row, { on, off }]) => [`recorded, ${row.split(",")[0]}, x`, median(on) / median(off)]);
  return Object.fromEntries(ratios) as Result;
}
