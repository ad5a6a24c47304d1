// A day of a busy session, in a moment: what its recording takes, and how long a screen and a search of it take. `RECORDED_MB` says how
// much it writes; the figures are printed.

import { readFileSync } from "node:fs";
import { OutputLog, STREAM_STDOUT } from "sandbox-stdio/core";
import { type Batch, Recorder, type Segment, type SegmentFacts } from "sandbox-stdio/recording";
import { expect, test } from "vitest";
import { Reference } from "../support/clients/reference-screen.ts";
import { sourceOf } from "../support/generators/source-of.ts";

type Packed = { readonly bytes: Uint8Array; readonly sha256: string };
type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
type Screen = { offset: number; ansi?: string; approximate?: true; partial?: true };

/** The bridge's screen. */
const { Emulator } = await sourceOf<{
  Emulator: new (
    size: object,
    offset: number,
    isExact: boolean,
  ) => {
    write(bytes: Uint8Array, size: object): unknown;
    show(request: object): Screen;
    dispose(): void;
  };
}>("sandbox/src/screen/emulator.ts");
const { packSegment, unpackSegment } = await sourceOf<{
  packSegment(segment: Segment): Packed;
  unpackSegment(bytes: Uint8Array, sha256: string): Segment | undefined;
}>("worker/src/recordings/stored-bytes.ts");
const { momentOf } = await sourceOf<{ momentOf(reading: object, moment: object): Promise<Answer> }>(
  "worker/src/recordings/moment.ts",
);
const { searched } = await sourceOf<{ searched(reading: object, target: object, asked: object): Promise<Answer> }>(
  "worker/src/recordings/search.ts",
);

const MIB = 1024 * 1024;
const TOTAL = Number(process.env.RECORDED_MB ?? "2") * MIB;
const DAY_MS = 24 * 3_600_000;
const START_MS = 1_700_000_000_000;
const SIZE = { cols: 100, rows: 30 };
const PIECE = 16_384;
const MOMENTS = 8;
/** Dollars for a million writes to a bucket, and a month of a GB there. */
const [WRITES, KEPT] = [4.5, 0.015];

const file = (name: string) =>
  readFileSync(new URL(`../../../sandbox/test/screen/recordings/${name}.bin`, import.meta.url));
const PARTS = ["build", "top", "htop", "vim"].map(file);

/** Programs' outputs, over and over, as so many bytes hold them. */
function partsOf(): Buffer[] {
  const parts: Buffer[] = [];
  for (let written = 0; written < TOTAL; written += parts.at(-1)?.length ?? 0) {
    parts.push(PARTS[parts.length % PARTS.length] ?? Buffer.alloc(1));
  }
  return parts;
}

/** With a line behind each that a search finds. */
function* output(): Generator<Uint8Array> {
  for (const [i, bytes] of partsOf().entries()) {
    const part = Buffer.concat([bytes, Buffer.from(`\r\n\x1b[mneedle number ${i}\r\n`)]);
    for (let at = 0; at < part.length; at += PIECE) yield part.subarray(at, at + PIECE);
  }
}

type Stored = { readonly facts: SegmentFacts; readonly packed: Packed };

async function recorded() {
  const log = new OutputLog(SIZE);
  const recorder = new Recorder(0);
  const emulator = new Emulator(SIZE, 0, true);
  const stored: Stored[] = [];
  let nowMs = START_MS;
  const keep = async (batch: Batch | undefined) => {
    if (batch === undefined) return;
    const { from, to, times, frames } = batch;
    const facts = {
      from,
      to,
      fromMs: times[0]?.[1] ?? 0,
      toMs: times.at(-1)?.[1] ?? 0,
      frames: frames.map(({ offset }) => offset),
    };
    stored.push({ facts, packed: packSegment({ incarnation: "a", isTty: true, ...batch }) });
  };
  for (const piece of output()) {
    log.append(piece, STREAM_STDOUT);
    emulator.write(piece, SIZE);
    nowMs += (DAY_MS * piece.length) / TOTAL;
    if (!recorder.came(log.endOffset, log, Math.round(nowMs))) continue;
    await keep(recorder.take(log, false).batch);
    if (!recorder.wantsFrame) continue;
    const { offset, ansi = "", approximate, partial } = emulator.show({ scrollback: 0, runs: false, ansi: true });
    if (approximate === true || partial === true) recorder.noFrame();
    else recorder.frame({ offset, ...SIZE, ansi: Buffer.from(ansi) });
  }
  await keep(recorder.take(log, true).batch);
  emulator.dispose();
  return { stored, end: log.endOffset };
}

/** As the Worker reads it from a bucket that answers at once. */
function readingOf(stored: readonly Stored[], end: number) {
  return {
    index: { kind: "found", incarnation: "a", isTty: true, startedAtMs: START_MS, end, isOver: true },
    segments: stored.map(({ facts }) => facts),
    segment: async (at: number) => {
      const one = stored[at];
      return one && unpackSegment(one.packed.bytes, one.packed.sha256);
    },
    timeAt: async () => START_MS,
  };
}

/** Milliseconds of this process's own time: others have the machine, too. */
const timed = async <T>(work: () => Promise<T>): Promise<[T, number]> => {
  const before = process.cpuUsage();
  const done = await work();
  const { user, system } = process.cpuUsage(before);
  return [done, (user + system) / 1000];
};

test("G2, G4, G5: a day's recording is small, and its screens and lines are those of all its output", async () => {
  const { stored, end } = await recorded();
  const bytes = stored.reduce((sum, { packed }) => sum + packed.bytes.length, 0);
  expect(bytes / end).toBeLessThan(1.2);
  const reading = readingOf(stored, end);
  const reference = new Reference(SIZE);
  const all = output();
  let fed = 0;
  let rest: Uint8Array = new Uint8Array(0);
  const moments: number[] = [];
  for (let i = 1; i <= MOMENTS; i += 1) {
    const offset = Math.floor((end * i) / MOMENTS) - (i % 5);
    while (fed < offset) {
      if (rest.length === 0) rest = all.next().value as Uint8Array;
      const part = rest.subarray(0, offset - fed);
      await reference.feed(part);
      rest = rest.subarray(part.length);
      fed += part.length;
    }
    const [answer, ms] = await timed(() => momentOf(reading, { offset, format: "json", scrollback: 0 }));
    moments.push(ms);
    expect(answer.body.approximate).toBeUndefined();
    expect(answer.body).toMatchObject(reference.screen());
  }
  let [hits, calls, ms] = [0, 0, 0];
  for (let from: number | undefined = 0; from !== undefined; calls += 1) {
    const [{ body }, took] = await timed(() =>
      searched(reading, { kind: "text", text: "needle number" }, { from, limit: 1_000 }),
    );
    ms += took;
    hits += (body.hits as unknown[]).length;
    from = body.next as number | undefined;
  }
  expect(hits).toBe(partsOf().length);
  moments.sort((a, b) => a - b);
  const writes = stored.length;
  console.log(
    [
      `${Math.round(end / MIB)} MiB in ${writes} segments, ${(bytes / end).toFixed(3)} bytes stored a byte`,
      `a screen: median ${Math.round(moments[MOMENTS / 2] ?? 0)} ms, longest ${Math.round(moments.at(-1) ?? 0)} ms`,
      `a search: ${hits} hits in ${calls} calls, ${Math.round(end / MIB / (ms / 1000))} MiB a second`,
      `writes $${((writes * WRITES) / 1e6).toFixed(4)}, a month of it $${((bytes / 1e9) * KEPT).toFixed(4)}`,
    ].join("\n"),
  );
});
