// How a server grows with the sessions it has: connects, echo, memory and idle processor time with 1, 10, 100 and 500 of them.

import { setTimeout as pause } from "node:timers/promises";
import { median, percentile, scaled } from "../base/numbers.ts";
import type { Subject } from "../subjects/subjects.ts";
import { openTerminal, seen, type Terminal } from "../subjects/terminal.ts";
import { echoes, type Result, readyCat, SHELL } from "./measuring.ts";

const COUNTS = [1, 10, 100, 500];
/** The last connections before a count is reached are timed. */
const TIMED = 50;
const IDLE_MS = 10_000;
const SETTLE_MS = 5_000;
/** A bridge has room for 256 logs of the usual size (L7), and for 1,024 of this one. */
const LOG_BYTES = 256 * 1024;

/** Rows for each count; a curve is straight if its figures stay the same. */
export async function growth(subject: Subject, share = 1): Promise<Result> {
  const empty = subject.memory();
  const result: Record<string, number> = {};
  const terminals: Terminal[] = [];
  for (const count of COUNTS) {
    const connects: number[] = [];
    while (terminals.length < count) {
      const from = performance.now();
      const terminal = await openTerminal(subject.spec(SHELL, { logBytes: LOG_BYTES }));
      await seen(terminal, "PROMPT> ");
      connects.push(performance.now() - from);
      terminals.push(terminal);
    }
    const beside = await readyCat(subject);
    const keys = await echoes(beside, scaled(300, share, 50));
    beside.close();
    await pause(SETTLE_MS);
    const [cpuBefore, from] = [subject.cpuMs(), performance.now()];
    await pause(IDLE_MS * share);
    const idle = (100 * (subject.cpuMs() - cpuBefore)) / (performance.now() - from);
    result[`${count} sessions: connect to prompt, ms`] = median(connects.slice(-TIMED));
    result[`${count} sessions: echo p50, ms`] = percentile(keys, 0.5);
    result[`${count} sessions: echo p99, ms`] = percentile(keys, 0.99);
    result[`${count} sessions: memory of each, KB`] = (subject.memory() - empty) / 1e3 / count;
    result[`${count} sessions: idle CPU of each, % of a core`] = idle / count;
  }
  for (const terminal of terminals) terminal.close();
  return result;
}
