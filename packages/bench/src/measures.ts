// The measurements, each on a fresh subject. They wait for what they measure and for nothing else.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { median, percentile } from "./numbers.ts";
import { COOKED_PERIOD, LINE, patternBytes, Verifier } from "./pattern.ts";
import { openLink } from "./slow-link.ts";
import { LINK_PORTS, type Subject } from "./subjects.ts";
import { openTerminal, seen, type Terminal } from "./terminal.ts";

/** One number of one subject: a row of the table has one for each. */
export type Result = Readonly<Record<string, number>>;

const RAW_CAT = ["sh", "-c", "stty raw -echo; printf READY; exec cat"];
const SHELL = ["sh", "-c", "PS1='PROMPT> ' exec bash --norc --noprofile -i"];
const FLOOD = ["sh", "-c", "stty raw; exec yes 0123456789012345678901234567890123456789012345678901234567890123"];
/** What ^C is typed into, and when. */
const YES = { command: "yes", runs: (terminal: Terminal) => received(terminal, 1_000_000) };
const SILENT = {
  command: "sh -c 'printf RUN%s NING; exec sleep 60'",
  runs: (terminal: Terminal) => seen(terminal, "RUNNING"),
};
const KEY = Buffer.from("x");
/** A flood that echoes too: what is typed comes back in the midst of lines that do not hold it. */
const ECHO_IN_FLOOD = ["sh", "-c", `stty raw -echo; yes ${"0123456789".repeat(6)} & exec cat`];
/** As much of a flood has gone by before keys are typed: a reader that stopped before it has stopped for good. */
const STOPPED_BYTES = 8_000_000;
const ALONE = ", without it";
/** No measurement waits longer for its answer: slower counts as never. */
const PATIENCE_MS = 10_000;

/** What one shell takes to end is not to be measured as another's beginning. */
const TEARDOWN_MS = 10;
/** Where an echo takes a second and more, fewer of them have to do. */
const UNDER_FLOOD_MS = 20_000;

/** From the start of a connection to the shell's prompt. */
export async function connectToPrompt(subject: Subject): Promise<Result> {
  const times: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    const from = performance.now();
    const terminal = await openTerminal(subject.spec(SHELL));
    await seen(terminal, "PROMPT> ");
    times.push(performance.now() - from);
    terminal.close();
    await pause(TEARDOWN_MS);
  }
  return { "connect to prompt, ms": median(times) };
}

/** A keystroke to a program on a raw terminal and back. */
export async function echoIdle(subject: Subject): Promise<Result> {
  const terminal = await readyCat(subject);
  const times = await echoes(terminal, 1_000);
  terminal.close();
  return { "echo idle p50, ms": percentile(times, 0.5), "echo idle p99, ms": percentile(times, 0.99) };
}

/** The same while another session of the same server floods another client. */
export async function echoUnderFlood(subject: Subject): Promise<Result> {
  const terminal = await readyCat(subject);
  const flood = await startFlood(subject);
  const times = await echoes(terminal, 500, UNDER_FLOOD_MS);
  const { megabytesPerSecond } = await flood.end();
  terminal.close();
  return {
    "echo under flood p50, ms": percentile(times, 0.5),
    "echo under flood p99, ms": percentile(times, 0.99),
    "... beside a flood of, MB/s": megabytesPerSecond,
  };
}

/**
 * What a viewer that stops reading costs the others: a key typed into a flooded session, and one typed into another session,
 * with and without such a viewer of the flood. In turn, so that a machine that slows down slows both.
 */
export async function echoBesideStoppedViewer(subject: Subject): Promise<Result> {
  const times = new Map<string, number[]>();
  const note = (row: string, more: readonly number[]) => times.set(row, [...(times.get(row) ?? []), ...more]);
  for (let i = 0; i < 6; i += 1) {
    const hasViewer = i % 2 === 1;
    const session = `stopped-${process.pid}-${Date.now()}`;
    const driver = await openTerminal(subject.spec(ECHO_IN_FLOOD, { session }));
    const viewer = hasViewer ? await stoppedViewer(subject, session) : undefined;
    await received(driver, STOPPED_BYTES);
    note(`key into a flooded session p99, ms${hasViewer ? "" : ALONE}`, await echoes(driver, 100, PATIENCE_MS, KEY));
    driver.close();
    viewer?.close();
  }
  for (let i = 0; i < 6; i += 1) {
    const hasViewer = i % 2 === 1;
    const terminal = await readyCat(subject);
    const session = `beside-${process.pid}-${Date.now()}`;
    const flood = await startFlood(subject, session);
    const viewer = hasViewer ? await stoppedViewer(subject, session) : undefined;
    note(`key into another session p99, ms${hasViewer ? "" : ALONE}`, await echoes(terminal, 200, PATIENCE_MS));
    await flood.end();
    viewer?.close();
    terminal.close();
  }
  const rows = [...times].map(([row, values]) => [row, percentile(values, 0.99)] as const);
  return Object.fromEntries(rows);
}

/** A viewer that has been shown something, and then reads no more. */
async function stoppedViewer(subject: Subject, session: string): Promise<Terminal> {
  const viewer = await openTerminal(subject.spec([], { session, role: "viewer" }));
  await received(viewer, 1);
  viewer.pause();
  return viewer;
}

/** Output of a program on a raw terminal, every byte compared. */
export async function outputRaw(subject: Subject): Promise<Result> {
  const total = 400_000_000;
  const cpuBefore = subject.cpuMs();
  const seconds = await readPattern(subject, total, `stty raw; yes '${LINE}' | head -c ${total}; sleep 60`);
  return {
    "output raw, MB/s": total / 1e6 / seconds,
    "... server CPU, ms/MB": (subject.cpuMs() - cpuBefore) / (total / 1e6),
  };
}

/** Output of a program on a cooked terminal: the kernel turns each line feed into two bytes. */
export async function outputCooked(subject: Subject): Promise<Result> {
  const written = 400_000_000;
  // Each line is one byte longer than it was written.
  const total = written + Math.floor(written / (LINE.length + 1));
  const script = `yes '${LINE}' | head -c ${written}; sleep 60`;
  const seconds = await readPattern(subject, total, script, new Verifier(COOKED_PERIOD));
  return { "output cooked, MB/s": total / 1e6 / seconds };
}

/** Input to a program on a raw terminal, its SHA-256 compared. */
export async function inputRaw(subject: Subject): Promise<Result> {
  const total = 60_000_000;
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

/** From ^C in a flood to the shell's prompt; and what that takes where nothing at all comes between the two. */
export async function interrupt(subject: Subject): Promise<Result> {
  const times = await interrupts(subject, subject.url, 20);
  const silent = await interrupts(subject, subject.url, 20, SILENT);
  return {
    "^C in a flood p50, ms": median(times),
    "^C in a flood max, ms": Math.max(...times),
    "^C of a silent program p50, ms": median(silent),
    "^C of a silent program max, ms": Math.max(...silent),
  };
}

/** The same through a link of 8 MB/s, and through one of 1 MB/s with 50 ms each way. */
export async function interruptOnSlowLinks(subject: Subject): Promise<Result> {
  const result: Record<string, number> = {};
  const links = [
    { name: "^C at 8 MB/s, ms", bytesPerSecond: 8e6, delayMs: 0 },
    { name: "^C at 1 MB/s and 2 x 50 ms, ms", bytesPerSecond: 1e6, delayMs: 50 },
  ];
  for (const [i, { name, ...options }] of links.entries()) {
    const link = await openLink(subject.url, { ...options, port: LINK_PORTS[i] ?? 0 });
    result[name] = median(await interrupts(subject, link.url, 3));
    link.close();
  }
  return result;
}

/** A reader that stops during a flood: what the server holds for it. */
export async function stalledReader(subject: Subject): Promise<Result> {
  const terminal = await openTerminal(subject.spec(FLOOD));
  await new Promise<void>((resolve) => {
    terminal.onOutput = () => resolve();
  });
  const before = subject.memory();
  terminal.pause();
  await pause(1_000);
  const afterOne = subject.memory();
  await pause(9_000);
  const afterTen = subject.memory();
  terminal.close();
  return {
    "stalled reader, growth in 1 s, MB": (afterOne - before) / 1e6,
    "stalled reader, growth in 10 s, MB": (afterTen - before) / 1e6,
  };
}

/** Idle shells: memory of the server for each, with all that a first use brings along and without, and a keystroke beside a hundred. */
export async function idleSessions(subject: Subject): Promise<Result> {
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
  for (const count of [1, 10, 100]) {
    await openUpTo(count);
    result[`memory for each of ${count} idle sessions, KB`] = (subject.memory() - before) / 1e3 / count;
  }
  const beside = await readyCat(subject);
  const times = await echoes(beside, 300);
  const hundred = subject.memory();
  await openUpTo(200);
  result["memory for each of the next 100, KB"] = (subject.memory() - hundred) / 1e3 / 100;
  for (const terminal of [...terminals, beside]) terminal.close();
  return { ...result, "echo p99 beside 100 sessions, ms": percentile(times, 0.99) };
}

/** One session to many viewers, until all of them have come to its end. A live viewer that falls behind skips some of it. */
export async function fanOut(subject: Subject): Promise<Result> {
  const result: Record<string, number> = {};
  for (const viewers of [1, 8, 64]) {
    const total = viewers === 64 ? 30_000_000 : 100_000_000;
    const session = `fan-${viewers}-${Date.now()}`;
    const command = ["sh", "-c", `stty raw -echo; head -c 1 >/dev/null; yes '${LINE}' | head -c ${total}; sleep 60`];
    const driver = await openTerminal(subject.spec(command, { session }));
    const all = [driver];
    for (let i = 1; i < viewers; i += 1) {
      all.push(await openTerminal(subject.spec([], { session, role: "viewer" })));
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

async function readPattern(
  subject: Subject,
  total: number,
  script: string,
  verifier = new Verifier(),
): Promise<number> {
  const terminal = await openTerminal(subject.spec(["sh", "-c", script]));
  let startedAt = 0;
  await new Promise<void>((resolve) => {
    terminal.onOutput = (chunk) => {
      if (startedAt === 0) startedAt = performance.now();
      verifier.take(chunk);
      if (verifier.bytes >= total) resolve();
    };
  });
  const seconds = (performance.now() - startedAt) / 1000;
  terminal.close();
  return seconds;
}

async function readyCat(subject: Subject): Promise<Terminal> {
  const terminal = await openTerminal(subject.spec(RAW_CAT));
  await seen(terminal, "READY");
  return terminal;
}

/** @param patienceMs No key is typed after so long. @param key What its echo is known by; without, any output is it. */
async function echoes(
  terminal: Terminal,
  count: number,
  patienceMs = Number.POSITIVE_INFINITY,
  key?: Buffer,
): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + patienceMs;
  for (let i = 0; i < count && performance.now() < end; i += 1) {
    const from = performance.now();
    const back = new Promise<void>((resolve) => {
      terminal.onOutput = (bytes) => {
        if (key === undefined || Buffer.from(bytes).includes(key)) resolve();
      };
    });
    terminal.send(KEY);
    await back;
    times.push(performance.now() - from);
    await pause(2 + (i % 3)); // A person's keys do not come back to back.
  }
  terminal.onOutput = () => undefined;
  return times;
}

async function interrupts(subject: Subject, url: string, count: number, program = YES): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const terminal = await openTerminal(subject.spec(SHELL, { url }));
    await seen(terminal, "PROMPT> ");
    terminal.send(Buffer.from(`${program.command}\r`));
    await program.runs(terminal);
    const from = performance.now();
    const prompt = seen(terminal, "PROMPT> ");
    terminal.send(Buffer.from("\x03"));
    const isThere = await Promise.race([prompt.then(() => true), pause(PATIENCE_MS).then(() => false)]);
    times.push(isThere ? performance.now() - from : Number.POSITIVE_INFINITY);
    terminal.close();
    if (!isThere) break;
  }
  return times;
}

function received(terminal: Terminal, bytes: number): Promise<void> {
  let came = 0;
  return new Promise((resolve) => {
    terminal.onOutput = (chunk) => {
      came += chunk.length;
      if (came >= bytes) resolve();
    };
  });
}

async function startFlood(
  subject: Subject,
  session?: string,
): Promise<{ end(): Promise<{ megabytesPerSecond: number }> }> {
  const spec = subject.spec(FLOOD, session === undefined ? {} : { session });
  const child = spawn(process.execPath, [join(import.meta.dirname, "flood.ts"), JSON.stringify(spec)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk) => {
      text += String(chunk);
      if (text.includes("ready")) resolve();
    });
  });
  await ready;
  return {
    end: async () => {
      child.stdin.end();
      await once(child, "exit");
      return JSON.parse(text.slice(text.indexOf("{"))) as { megabytesPerSecond: number };
    },
  };
}

function watchMemory(subject: Subject): { end(): number } {
  let peak = subject.memory();
  const timer = setInterval(() => {
    peak = Math.max(peak, subject.memory());
  }, 20);
  return {
    end: () => {
      clearInterval(timer);
      return Math.max(peak, subject.memory());
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
