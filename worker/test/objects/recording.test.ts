// Recordings in a session object's own storage, over the core's own end of the inner hop: told, kept, limited, and whole whenever the
// object dies.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { giveClock } from "../support/given-clock.ts";
import { Bridge, LIMIT, open } from "../support/line-bridge.ts";
import {
  inObject,
  RECORDING_SETTINGS,
  readingOf,
  real,
  recorded,
  stubOf,
  writtenThroughDeaths,
} from "../support/recorded.ts";

const before = Object.fromEntries(Object.keys(RECORDING_SETTINGS).map((name) => [name, real[name]]));
const BATCH_MS = 30_000;
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
