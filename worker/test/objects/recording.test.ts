// Recordings in a session object's own storage, over the core's own end of the inner hop: told, kept, limited, and whole whenever the
// object dies.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { momentOf } from "../../src/recordings/moment.ts";
import { giveClock } from "../support/given-clock.ts";
import { Bridge, LIMIT, open } from "../support/line-bridge.ts";
import {
  inObject,
  kill,
  RECORDING_SETTINGS,
  readingOf,
  real,
  recorded,
  stubOf,
  writtenThroughDeaths,
} from "../support/recorded.ts";

const before = Object.fromEntries(Object.keys(RECORDING_SETTINGS).map((name) => [name, real[name]]));
const BATCH_MS = 30_000;
/** For a drawing that a busy machine does not make late. */
const AN_HOUR_MS = 3_600_000;
const clock = giveClock();

beforeEach(() => void Object.assign(real, RECORDING_SETTINGS));

afterEach(() => {
  Object.assign(real, before);
  vi.restoreAllMocks();
});

test("G1: a recorded session tells everybody, and its output is there as it came, before and after its exit", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  const client = await open(stub, "stdio", "alice", true);
  const recording = { since: "2026-01-01T00:00:00.000Z", redacted: false };
  expect(JSON.parse(client.news[0] ?? "")).toMatchObject({ recording });
  client.type("one\n");
  await expect.poll(() => client.output, LIMIT).toBe("got one\n");
  expect(await recorded(stub)).toMatchObject({ text: "got one\n", gaps: [], isOver: false });
  expect(await stub.describe()).toMatchObject({ recording });
  clock.putForward(BATCH_MS);
  await expect
    .poll(() => stub.recordingIndex(undefined), LIMIT)
    .toMatchObject({ open: [], segments: [{ from: 0, to: 8 }] });
  await inObject(stub, () => {
    bridge.write("two\n");
    bridge.exit(7);
  });
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ isOver: true, open: [] });
  const reading = await readingOf(stub);
  const last = await reading.segment(reading.segments.length - 1);
  expect(last?.exit).toMatchObject({ code: 7 });
  expect(await recorded(stub)).toMatchObject({ text: "got one\ntwo\n", gaps: [], isInOrder: true });
  expect(await stub.listRecordings()).toMatchObject([{ incarnation: "the-only-one", startedAt: recording.since }]);
  // Each segment's hash stands in the audit's chain.
  const { records = [] } = (await stub.audit(0, 100)) ?? {};
  const hashes = records.flatMap((record) => (record.type === "recorded" ? [record.sha256] : []));
  expect(hashes).toEqual(reading.index.segments.map(({ sha256 }) => sha256));
});

test("G1: under ask a session is recorded if its start says so, and no other client can have it recorded later", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub);
  const client = await open(stub, "stdio");
  await open(stub, "stdio", "bob", true);
  await inObject(stub, () => bridge.write("x\n"));
  await expect.poll(() => client.output, LIMIT).toBe("x\n");
  expect(client.news[0]).not.toContain("recording");
  expect(await stub.recordingIndex(undefined)).toEqual({ kind: "none" });
  expect(await stub.listRecordings()).toEqual([]);
});

test("G2: the object dies again and again while segments are written: no byte is missing or doubled", async () => {
  const name = crypto.randomUUID();
  const written = await writtenThroughDeaths(name, clock);
  const { text, gaps, isInOrder } = await recorded(stubOf(name));
  expect({ gaps, isInOrder, length: text.length }).toEqual({ gaps: [], isInOrder: true, length: written.length });
  expect(text === written).toBe(true);
});

test("G2: the object dies while it records what no client follows: its alarm brings another, which goes on to the exit", async () => {
  const name = crypto.randomUUID();
  const bridge = new Bridge(stubOf(name), true);
  const client = await open(stubOf(name), "plain", undefined, true);
  await inObject(stubOf(name), () => bridge.write("one\n"));
  await expect.poll(() => client.output, LIMIT).toBe("one\n");
  client.close();
  await expect.poll(async () => (await stubOf(name).describe())?.clients, LIMIT).toBe(0);
  await inObject(stubOf(name), () => bridge.write("two\n"));
  await kill(stubOf(name));
  const stub = stubOf(name);
  await inObject(stub, () => {
    bridge.write("three\n");
    bridge.exit(3);
  });
  clock.putForward(5_000);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  // Listing wakes nothing.
  await expect.poll(async () => (await stub.listRecordings())[0]?.endedAt, LIMIT).toBeDefined();
  expect(await recorded(stub)).toMatchObject({ text: "one\ntwo\nthree\n", gaps: [], isOver: true });
});

test("G2: beyond the limit the oldest output goes, told as a gap; what is held stays, and is full", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  await open(stub, "plain", undefined, true);
  let written = 0;
  const write = async (bytes: number) => {
    const text = noise(bytes);
    written += text.length;
    await inObject(stub, () => bridge.write(text));
    await expect.poll(async () => (await stub.describe())?.offset, LIMIT).toBe(written);
  };
  for (let i = 0; i < 30; i += 1) await write(200_000);
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ open: [expect.anything()] });
  const [listed] = await stub.listRecordings();
  expect(listed?.bytes).toBeLessThanOrEqual(Number(RECORDING_SETTINGS.RECORDING_BYTES));
  expect(listed?.gap?.from).toBe(0);
  expect((await recorded(stub)).gaps).toEqual([listed?.gap]);
  const by = { tenant: "t", user: "root", address: "" };
  expect(await stub.holdRecording(undefined, "a case", by)).toBe("done");
  for (let i = 0; i < 20; i += 1) await write(200_000);
  const [held] = await stub.listRecordings();
  // No older output goes, and of the newer there is what the log still has.
  expect([held?.gap, held?.held?.reason]).toEqual([listed?.gap, "a case"]);
  expect(await stub.removeRecordings(undefined, by, true)).toEqual({ kind: "held", reason: "a case" });
  expect(await stub.holdRecording(undefined, undefined, by)).toBe("done");
  expect(await stub.removeRecordings(undefined, { ...by, user: "mallory" }, false)).toEqual({ kind: "forbidden" });
  expect(await stub.removeRecordings(undefined, { ...by, user: "alice" }, false)).toEqual({ kind: "done", count: 1 });
  expect(await stub.recordingIndex(undefined)).toEqual({ kind: "removed" });
  expect(await stub.listRecordings()).toEqual([]);
  const kept = await runInDurableObject(stub, (_object, { storage }) => [
    ...storage.kv.list({ prefix: "recording/segment/" }),
    ...storage.kv.list({ prefix: "recording/blob/" }),
  ]);
  expect(kept).toEqual([]);
});

test("G2: output that has been kept for long enough goes, and at last the recording does", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  const client = await open(stub, "stdio", "alice", true);
  client.type("one\n");
  await expect.poll(() => client.output, LIMIT).toBe("got one\n");
  await inObject(stub, () => bridge.exit(0));
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ isOver: true, open: [] });
  const DAY_MS = 86_400_000;
  const aged = async (days: number) => {
    clock.putForward(days * DAY_MS);
    expect(await runDurableObjectAlarm(stub)).toBe(true);
    return (await stub.recordingIndex(undefined)).kind;
  };
  expect(await aged(6)).toBe("found");
  expect(await aged(1)).toBe("removed");
  expect(await aged(89)).toBe("removed");
  expect(await aged(1)).toBe("none");
});

/** Characters that can't be compressed much. */
function noise(bytes: number): string {
  const random = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 65_536) crypto.getRandomValues(random.subarray(at, at + 65_536));
  return Array.from(random, (byte) => String.fromCharCode(33 + (byte % 90))).join("");
}

test("G4: what takes too long to draw is refused, and nothing else waits for it", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  await open(stub, "plain", undefined, true);
  await inObject(stub, () => bridge.write("\x1b[2J\x1b[H".repeat(2_000)));
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ end: 14_000 });
  const reading = await readingOf(stub);
  const moment = { offset: 14_000, format: "text", scrollback: 0 } as const;
  expect(await momentOf(reading, moment, -1)).toMatchObject({ status: 503, body: { error: "no_screen_yet" } });
  expect(await momentOf(reading, moment, AN_HOUR_MS)).toMatchObject({
    status: 200,
    body: { offset: 14_000, cursor: { x: 0, y: 0 } },
  });
});

test("G4: the screen behind a flood of lines, most of which need no drawing, and what has scrolled off above it", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  await open(stub, "plain", undefined, true);
  const numbers = Array.from({ length: 60_000 }, (_, i) => String(i));
  await inObject(stub, () => bridge.write(`\x1b[31m${numbers.join("\r\n")}`));
  const { length } = `\x1b[31m${numbers.join("\r\n")}`;
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ end: length });
  const moment = { offset: length, format: "json", scrollback: 1_000 } as const;
  const { body } = await momentOf(await readingOf(stub), moment, AN_HOUR_MS);
  const { lines, scrollback, runs } = body as { lines: string[]; scrollback: string[]; runs: object[][] };
  expect([...scrollback, ...lines]).toEqual(numbers.slice(-1_000 - lines.length));
  expect(runs.at(-1)).toEqual([{ x: 0, cols: 5, fg: 1 }]);
});

test("G2: a process that ended while the object was dead has its end in the recording, once it is asked for", async () => {
  const name = crypto.randomUUID();
  const bridge = new Bridge(stubOf(name), true);
  await open(stubOf(name), "plain", undefined, true);
  await inObject(stubOf(name), () => bridge.write("before\n"));
  await expect.poll(() => stubOf(name).recordingIndex(undefined), LIMIT).toMatchObject({ end: 7 });
  await kill(stubOf(name));
  bridge.write("after\n");
  bridge.exit(3);
  await expect.poll(() => stubOf(name).recordingIndex(undefined), LIMIT).toMatchObject({ isOver: true, open: [] });
  expect(await recorded(stubOf(name))).toMatchObject({ text: "before\nafter\n", gaps: [] });
});
