// Holding a program back: it really sleeps, and not a byte is lost or doubled however often it happens.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_FRAME_BYTES } from "sandbox-stdio/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import type { OutputSink } from "../../src/process/process.ts";
import { Collector, eventually, inspect, raw, start } from "../support/process-harness.ts";

const SEED = 20_261_120;

/** Compares each byte with the one that belongs at its offset, and holds the program now and then. */
class Checker implements OutputSink {
  readonly #expected: Uint8Array;
  readonly #random: Random;
  readonly #room = new Uint8Array(65_536);
  #reserved = 0;
  offset = 0;
  holds = 0;
  firstWrong: number | undefined;
  onHold: () => void = () => undefined;

  constructor(expected: Uint8Array, seed: number) {
    this.#expected = expected;
    this.#random = new Random(seed);
  }

  /** Room of any size, as the end of a ring buffer gives it. */
  reserve(): Uint8Array {
    this.#reserved = this.#random.next() < 0.1 ? 1 + Math.floor(this.#random.next() * 100) : this.#room.length;
    return this.#room.subarray(0, this.#reserved);
  }

  commit(length: number): void {
    expect(length).toBeLessThanOrEqual(this.#reserved);
    const wanted = this.#expected.subarray(this.offset, this.offset + length);
    if (this.firstWrong === undefined && Buffer.compare(this.#room.subarray(0, length), wanted) !== 0) {
      this.firstWrong = this.offset + [...wanted].findIndex((byte, index) => byte !== this.#room[index]);
    }
    this.offset += length;
    if (this.#random.next() < 0.1) this.#hold();
  }

  flush(): void {
    if (this.#random.next() < 0.1) this.#hold();
  }

  #hold(): void {
    this.holds += 1;
    this.onHold();
  }
}

let directory = "";
let noise: Uint8Array = new Uint8Array();

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "process-flow-"));
  const random = new Random(SEED);
  noise = Uint8Array.from({ length: 8_000_000 }, () => random.next() * 256);
  writeFileSync(join(directory, "noise"), noise);
});

afterAll(() => rmSync(directory, { recursive: true }));

function lines(count: number, end: string): Uint8Array {
  return Buffer.from(Array.from({ length: count }, (_, index) => `${index + 1}${end}`).join(""));
}

describe(`every byte arrives once and in order, through many holds (seed ${SEED})`, () => {
  test.each([
    { name: "raw PTY", tty: true, command: () => raw(`cat ${directory}/noise`), expected: () => noise },
    { name: "cooked PTY", tty: true, command: () => ["seq", "1", "1000000"], expected: () => lines(1_000_000, "\r\n") },
    { name: "pipe", tty: false, command: () => ["cat", `${directory}/noise`], expected: () => noise },
  ])("$name", async ({ tty, command, expected }) => {
    const sink = new Checker(expected(), SEED);
    const { child, exited } = start(command(), { tty }, sink);
    const random = new Random(SEED + 1);
    sink.onHold = () => {
      child.hold();
      if (random.next() < 0.5) setImmediate(() => child.release());
      else setTimeout(() => child.release(), random.next() * 3);
    };
    expect(await exited).toEqual({ code: 0 });
    expect(sink.firstWrong).toBe(undefined);
    expect(sink.offset).toBe(expected().length);
    expect(sink.holds).toBeGreaterThan(5);
  });

  test("echo: 3 MB typed into a raw terminal come back as they were", async () => {
    const typed = noise.subarray(0, 3_000_000);
    const sink = new Checker(Buffer.concat([Buffer.from("ready"), typed]), SEED + 2);
    const { child, exited, type } = start(raw("sh -c 'printf ready; exec cat'"), { tty: true }, sink);
    sink.onHold = () => {
      child.hold();
      setImmediate(() => child.release());
    };
    await eventually(() => sink.offset >= 5);
    await type(typed);
    await eventually(() => sink.offset >= 5 + typed.length);
    expect(sink.firstWrong).toBe(undefined);
    expect(sink.offset).toBe(5 + typed.length);
    child.signalAll("SIGKILL");
    await exited;
  });
});

test.each([
  { streams: "PTY", tty: true, command: raw("yes"), most: 100_000 },
  { streams: "pipe", tty: false, command: ["yes"], most: 140_000 },
])("a held program sleeps in the kernel and uses no processor time ($streams)", async ({ tty, command, most }) => {
  const { child, sink, exited } = start(command, { tty });
  await sink.until(/y\n/);
  child.hold();
  const atHold = sink.totalBytes;
  await eventually(() => {
    const before = inspect(child.pid);
    return before?.state === "S" && before.cpuTicks === inspect(child.pid)?.cpuTicks;
  });
  const asleep = inspect(child.pid);
  // Nothing is to happen here, so there is nothing to wait for but time.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(inspect(child.pid)).toEqual(asleep);
  expect(asleep?.state).toBe("S");
  expect(sink.totalBytes).toBe(atHold);
  // Awake again, with the kernel's buffer first.
  let bytes = 0;
  sink.onCommit = (chunk) => {
    bytes += chunk.length;
    if (bytes > most) child.signalAll("SIGKILL");
  };
  child.release();
  expect(await exited).toEqual({ code: 137, signal: "SIGKILL" });
});

test("hold flushes what was read, and nothing is committed before release", async () => {
  const sink = new Collector();
  const { child, exited } = start(["sh", "-c", "echo one; read go; echo two; read go"], {}, sink);
  sink.onCommit = () => child.hold();
  await sink.until(/one/);
  expect(sink.unflushedBytes).toBe(0);
  child.write(Buffer.from("go\n"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sink.text()).toBe("one\n");
  child.release();
  await sink.until(/two/);
  child.closeStdin();
  child.release();
  await exited;
});

test("both outputs of a program on pipes are held together", async () => {
  const sink = new Collector();
  const { child, exited } = start(["sh", "-c", "read go; echo out; echo err >&2; read go"], {}, sink);
  child.hold();
  child.write(Buffer.from("go\n"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(sink.totalBytes).toBe(0);
  child.release();
  await Promise.all([sink.until(/out/, 1), sink.until(/err/, 2)]);
  child.closeStdin();
  await exited;
});

test("a hold during whose last flush the program is let go on again holds none of its outputs", async () => {
  const sink = new Collector();
  const script = "head -c 2000 /dev/zero; echo err >&2; kill -STOP $$; echo more >&2";
  const { child, exited } = start(["sh", "-c", script], {}, sink);
  child.hold();
  await eventually(() => inspect(child.pid)?.state === "T"); // Both are in the pipes.
  let flushes = 0;
  sink.onFlush = () => {
    flushes += 1;
    if (flushes === 1) child.hold();
    else if (flushes === 2) child.release();
  };
  child.release();
  await Promise.all([sink.until(/\0/, 1), sink.until(/err/, 2)]);
  child.signal("SIGCONT");
  await sink.until(/more/, 2);
  expect(await exited).toEqual({ code: 0 });
});

test("under load a flush has one whole frame; on an idle terminal it follows each byte", async () => {
  const flood = start(raw("head -c 5000000 /dev/zero"), { tty: true });
  const ends: number[] = [];
  flood.sink.onFlush = () => ends.push(flood.sink.totalBytes);
  await flood.exited;
  const lengths = ends.map((end, i) => end - (ends[i - 1] ?? 0));
  expect(Math.max(...lengths)).toBe(MAX_FRAME_BYTES);
  expect(ends.at(-1)).toBe(5_000_000);
  // Each one but those where the program had nothing more at that moment.
  expect(5_000_000 / lengths.length).toBeGreaterThan(8_192);

  const { child, sink, exited } = start(raw("sh -c 'printf ready; exec cat'"), { tty: true });
  await sink.until(/ready/);
  for (const key of "quick") {
    child.write(Buffer.from(key));
    await sink.until(new RegExp(`${key}$`));
  }
  expect(sink.text()).toBe("readyquick");
  child.signalAll("SIGKILL");
  await exited;
});
