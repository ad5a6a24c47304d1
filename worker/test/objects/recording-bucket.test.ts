// Recordings in a bucket that fails, is slow, or answers as if it had not stored what it has: what can't be stored is a gap, and told.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { momentOf } from "../../src/recordings/moment.ts";
import { giveClock } from "../support/given-clock.ts";
import { Bridge, LIMIT, open } from "../support/line-bridge.ts";
import {
  inObject,
  lines,
  RECORDING_SETTINGS,
  readingOf,
  real,
  recorded,
  stubOf,
  writtenThroughDeaths,
} from "../support/recorded.ts";
import { type PutFate, StandInBucket } from "../support/stand-in-bucket.ts";

const bucket = new StandInBucket();
const settings = { ...RECORDING_SETTINGS, RECORDINGS: bucket };
const before = Object.fromEntries(Object.keys(settings).map((name) => [name, real[name]]));
const clock = giveClock();

beforeEach(() => void Object.assign(real, settings));

afterEach(() => {
  bucket.fate = () => "good";
  bucket.readFate = () => "good";
  Object.assign(real, before);
  vi.restoreAllMocks();
});

test.each<[string, readonly PutFate[]]>([
  ["stores", ["good"]],
  ["fails, and stores what it says has failed", ["good", "fails", "late"]],
])("G2: the object dies again and again over a bucket that %s: no byte is missing or doubled", async (_, fates) => {
  let call = 0;
  bucket.fate = () => {
    call += 1;
    return fates[call % fates.length] ?? "good";
  };
  const name = crypto.randomUUID();
  const written = await writtenThroughDeaths(name, clock);
  const { text, gaps, isInOrder } = await recorded(stubOf(name));
  expect({ gaps, isInOrder, length: text.length }).toEqual({ gaps: [], isInOrder: true, length: written.length });
  expect(text === written).toBe(true);
  expect(bucket.overwritten).toEqual([]);
});

test("G1: a bucket that never answers: the session goes on, and the recording tells exactly what it lacks", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  await open(stub, "plain", undefined, true);
  let written = "";
  const write = async (bytes: number) => {
    const text = lines(written.length, bytes);
    written += text;
    await inObject(stub, () => bridge.write(text));
    await expect.poll(async () => (await stub.describe())?.offset, LIMIT).toBe(written.length);
  };
  await write(300_000);
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ open: [] });
  bucket.fate = () => "never";
  for (let i = 0; i < 120; i += 1) await write(100_000);
  bucket.fate = () => "good";
  // The write that has no answer is given up, and tried again.
  const isStored = async () => {
    clock.putForward(5_000);
    const index = await stub.recordingIndex(undefined);
    return index.kind === "found" && index.open.length === 0 && index.end === written.length;
  };
  await expect.poll(isStored, LIMIT).toBe(true);
  const { text, gaps, isInOrder } = await recorded(stub);
  expect(isInOrder).toBe(true);
  const [gap] = gaps;
  expect(gaps.length).toBe(1);
  // Some 8 MiB waited in memory, the log had its last, and the rest is the gap.
  expect(text === written.slice(0, gap?.from) + written.slice(gap?.to)).toBe(true);
  expect(gap?.from).toBeGreaterThan(8_000_000);
  const [listed] = await stub.listRecordings();
  expect(listed?.gap).toEqual(gap);
});

test("G3: a bucket that fails or never answers at reading is told in time, and the session goes on", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  await open(stub, "plain", undefined, true);
  await inObject(stub, () => bridge.write("one\n"));
  await expect.poll(async () => (await stub.describe())?.offset, LIMIT).toBe(4);
  clock.putForward(30_000);
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ open: [] });
  for (const fate of ["fails", "never"] as const) {
    bucket.readFate = () => fate;
    const asked = readingOf(stub).then((reading) => momentOf(reading, { offset: 2, format: "text", scrollback: 0 }));
    const told = asked.catch(String);
    await inObject(stub, () => bridge.write("two\n"));
    await expect.poll(() => fate === "fails" || clock.timers.includes(10_000), LIMIT).toBe(true);
    clock.putForward(10_000);
    expect(await told).toBe("StorageFault: the recording can't be read just now: ask again");
  }
  bucket.readFate = () => "good";
  clock.putForward(30_000);
  await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ end: 12, open: [] });
  expect((await recorded(stub)).text).toBe("one\ntwo\ntwo\n");
});

test("G2: what the bucket has in place of a segment is not believed: the segment is a gap, and the rest is read", async () => {
  const stub = stubOf(crypto.randomUUID());
  const bridge = new Bridge(stub, true);
  await open(stub, "plain", undefined, true);
  const before = new Set(bucket.objects.keys());
  for (const text of ["one\n", "two\n"]) {
    await inObject(stub, () => bridge.write(text));
    await expect.poll(async () => (await stub.describe())?.offset, LIMIT).toBe(text === "one\n" ? 4 : 8);
    clock.putForward(30_000);
    await expect.poll(() => stub.recordingIndex(undefined), LIMIT).toMatchObject({ open: [] });
  }
  const own = [...bucket.objects.keys()].filter((key) => !before.has(key));
  const [first = "", second = ""] = own;
  const [good, foreign] = [bucket.objects.get(first), bucket.objects.get(second)];
  for (const lie of [foreign, good?.slice(0, -1), new Uint8Array(0), undefined]) {
    if (lie === undefined) bucket.objects.delete(first);
    else bucket.objects.set(first, lie);
    const { text } = await recorded(stub);
    expect(text).toBe("two\n");
    const moment = await momentOf(await readingOf(stub), { offset: 2, format: "text", scrollback: 0 });
    expect(moment).toMatchObject({ status: 410, body: { error: "gap", from: 0, to: 4 } });
  }
});
