// The measurements of how much: bytes a second out and in, to many at once, and memory.

import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { percentile, scaled } from "../base/numbers.ts";
import { COOKED_PERIOD, LINE, patternBytes, rawPattern, Verifier } from "../base/pattern.ts";
import type { Subject } from "../subjects/subjects.ts";
import { openTerminal, seen, type Terminal } from "../subjects/terminal.ts";
import { echoes, FLOOD, type Result, readyCat, received, SHELL, watchMemory } from "./measuring.ts";

/** CPU time of the servers' start, until they have settled, and the size of the Worker. */
export async function start(subject: Subject): Promise<Result> {
  return {
    "CPU of a start, ms": subject.cpuMs(),
    "the Worker's bundle, MB": (subject.bundleBytes ?? Number.NaN) / 1e6,
  };
}

/** Output of a program on a raw terminal, every byte compared. */
export async function outputRaw(subject: Subject, share = 1): Promise<Result> {
  const total = scaled(400_000_000, share, 10_000_000);
  const cpuBefore = subject.cpuMs();
  const seconds = await readPattern(subject, total, rawPattern(total));
  return {
    "output raw, MB/s": total / 1e6 / seconds,
    "... server CPU, ms/MB": (subject.cpuMs() - cpuBefore) / (total / 1e6),
  };
}

/** Output of a program on a cooked terminal: the kernel turns each line feed into two bytes. */
export async function outputCooked(subject: Subject, share = 1): Promise<Result> {
  const written = scaled(400_000_000, share, 10_000_000);
  // Each line is one byte longer than it was written.
  const total = written + Math.floor(written / (LINE.length + 1));
  const script = `yes '${LINE}' 2>/dev/null | head -c ${written}; sleep 60`;
  const cpuBefore = subject.cpuMs();
  const seconds = await readPattern(subject, total, script, new Verifier(COOKED_PERIOD));
  return {
    "output cooked, MB/s": total / 1e6 / seconds,
    "... cooked: server CPU, ms/MB": (subject.cpuMs() - cpuBefore) / (total / 1e6),
  };
}

/** Input to a program on a raw terminal, its SHA-256 compared. */
export async function inputRaw(subject: Subject, share = 1): Promise<Result> {
  const total = scaled(60_000_000, share, 5_000_000);
  const command = `stty raw -echo; printf READY; head -c ${total} | sha256sum; sleep 60`;
  const terminal = await openTerminal(subject.spec(["sh", "-c", command]));
  await seen(terminal, "READY");
  const bytes = patternBytes(total);
  const before = subject.memory();
  const peak = watchMemory(subject);
  const cpuBefore = subject.cpuMs();
  const from = performance.now();
  const done = seen(terminal, createHash("sha256").update(bytes).digest("hex"));
  for (let at = 0; at < total; at += 65_536) terminal.send(bytes.subarray(at, at + 65_536));
  await done;
  const seconds = (performance.now() - from) / 1000;
  const cpuMs = subject.cpuMs() - cpuBefore;
  terminal.close();
  return {
    "input, MB/s": total / 1e6 / seconds,
    "... server growth, MB": (peak.end() - before) / 1e6,
    "... server CPU for input, ms/MB": cpuMs / (total / 1e6),
  };
}

const FLOWING_BYTES = 30_000_000;

/** A reader that stops during a flood: how much the server holds for it. */
export async function stalledReader(subject: Subject, share = 1): Promise<Result> {
  const terminal = await openTerminal(subject.spec(FLOOD));
  // What a first output brings along is there then.
  await received(terminal, FLOWING_BYTES);
  const before = subject.memory();
  terminal.pause();
  await pause(1_000);
  const afterOne = subject.memory();
  await pause(9_000 * share);
  const afterTen = subject.memory();
  terminal.close();
  return {
    "stalled reader, growth in 1 s, MB": (afterOne - before) / 1e6,
    "stalled reader, growth in 10 s, MB": (afterTen - before) / 1e6,
  };
}

/** Idle shells: memory of the server for each, with all that a first use brings along and without, and a keystroke beside a hundred. */
export async function idleSessions(subject: Subject, share = 1): Promise<Result> {
  const before = subject.memory();
  const result: Record<string, number> = { "memory with no session, MB": before / 1e6 };
  const terminals: Terminal[] = [];
  const openUpTo = async (count: number) => {
    while (terminals.length < count) {
      const terminal = await openTerminal(subject.spec(SHELL));
      await seen(terminal, "PROMPT> ");
      terminals.push(terminal);
    }
  };
  const most = scaled(100, share, 10);
  for (const count of new Set([1, 10, most])) {
    await openUpTo(count);
    result[`memory for each of ${count} idle sessions, KB`] = (subject.memory() - before) / 1e3 / count;
  }
  const beside = await readyCat(subject);
  const times = await echoes(beside, scaled(300, share, 50));
  const first = subject.memory();
  await openUpTo(2 * most);
  result[`memory for each of the next ${most}, KB`] = (subject.memory() - first) / 1e3 / most;
  for (const terminal of [...terminals, beside]) terminal.close();
  return { ...result, [`echo p99 beside ${most} sessions, ms`]: percentile(times, 0.99) };
}

/** A client pings every 15 s. */
const IDLE_MS = 15_000;
/** Runtimes compile, and collect what the beginning left, for some time. */
const IDLE_SETTLE_MS = 15_000;

/** Shells at their prompts with a client attached to each, and nothing to do. */
export async function idleCpu(subject: Subject, share = 1): Promise<Result> {
  const terminals: Terminal[] = [];
  while (terminals.length < 100) {
    const terminal = await openTerminal(subject.spec(SHELL));
    await seen(terminal, "PROMPT> ");
    terminals.push(terminal);
  }
  await pause(IDLE_SETTLE_MS);
  const before = subject.cpuMs();
  const from = performance.now();
  await pause(IDLE_MS * share);
  const percent = (100 * (subject.cpuMs() - before)) / (performance.now() - from);
  for (const terminal of terminals) terminal.close();
  return { "CPU of 100 idle sessions, % of a core": percent };
}

/** A session reserves an eighth of its 64 places for drivers. */
const MOST_VIEWERS = 56;

/** One session to many viewers, until all of them have come to its end. A live viewer that falls behind skips some of it. */
export async function fanOut(subject: Subject, share = 1): Promise<Result> {
  const result: Record<string, number> = {};
  for (const viewers of [1, 8, 64]) {
    const total = scaled(viewers === 64 ? 30_000_000 : 100_000_000, share, 2_000_000);
    const session = `fan-${viewers}-${Date.now()}`;
    const command = [
      "sh",
      "-c",
      `stty raw -echo; head -c 1 >/dev/null; yes '${LINE}' 2>/dev/null | head -c ${total}; sleep 60`,
    ];
    const driver = await openTerminal(subject.spec(command, { session }));
    const all = [driver];
    for (let i = 1; i < viewers; i += 1) {
      // The last places are kept for drivers.
      const role = i < MOST_VIEWERS ? "viewer" : "driver";
      all.push(await openTerminal(subject.spec([], { session, role, delivery: "live" })));
    }
    let came = 0;
    let skipped = 0;
    const done = all.map(
      (terminal) =>
        new Promise<void>((resolve) => {
          let at = 0;
          const advance = (bytes: number) => {
            at += bytes;
            if (at >= total) resolve();
          };
          terminal.onOutput = (chunk) => {
            came += chunk.length;
            advance(chunk.length);
          };
          terminal.onGap = (bytes) => {
            skipped += bytes;
            advance(bytes);
          };
        }),
    );
    const from = performance.now();
    driver.send(Buffer.from("\n"));
    await Promise.all(done);
    result[`one session to ${viewers}, MB/s in all`] = came / 1e3 / (performance.now() - from);
    if (viewers > 1) result[`... skipped for those behind, of ${viewers}, %`] = (100 * skipped) / (came + skipped);
    driver.close();
    for (const terminal of all.slice(1)) terminal.close();
  }
  return result;
}

/** Has a script run that puts out the pattern, and checks it. @returns The seconds from its first byte to its last. */
export async function readPattern(
  subject: Subject,
  total: number,
  script: string,
  verifier = new Verifier(),
): Promise<number> {
  const terminal = await openTerminal(subject.spec(["sh", "-c", script]));
  let startedAt = 0;
  await new Promise<void>((resolve, reject) => {
    terminal.onOutput = (chunk) => {
      if (startedAt === 0) startedAt = performance.now();
      try {
        verifier.take(chunk);
      } catch (error) {
        reject(error); // One subject's fault leaves its row out.
      }
      if (verifier.bytes >= total) resolve();
    };
  });
  const seconds = (performance.now() - startedAt) / 1000;
  terminal.close();
  return seconds;
}
