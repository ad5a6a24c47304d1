// A recorded session of a stand-in bridge: written to, killed, and read back.
import { env, runInDurableObject } from "cloudflare:test";
import { gapsWithin } from "sandbox-stdio/recording";
import { expect } from "vitest";
import type { Env } from "../../src/env.ts";
import type { SessionObject } from "../../src/objects/session-object.ts";
import { RecordingReading } from "../../src/recordings/reading.ts";
import type { Clock } from "./given-clock.ts";
import { Bridge, LIMIT, open, PARKING_SETTINGS } from "./line-bridge.ts";

export const real = env as unknown as Env & Record<string, unknown>;
/** They are fixed for all objects of a file. */
export const RECORDING_SETTINGS = {
  ...PARKING_SETTINGS,
  PARK_SECONDS: "3600",
  RECORDING: "ask",
  RECORDING_BYTES: "4194304",
  AUDIT: "content",
};

export type Stub = DurableObjectStub<SessionObject>;

/** A stub of an object that was killed is of no more use. */
export const stubOf = (name: string) => real.SESSION.getByName(name) as unknown as Stub;

/** The bridge's socket belongs to the object. */
export const inObject = (stub: Stub, run: () => void) => runInDurableObject(stub, run);

export async function readingOf(stub: Stub): Promise<RecordingReading> {
  const reading = await RecordingReading.open(real, stub as never, undefined);
  if (!(reading instanceof RecordingReading)) throw new Error(JSON.stringify(reading));
  return reading;
}

/** All that is recorded, and what is told to be missing. */
export async function recorded(stub: Stub) {
  const reading = await readingOf(stub);
  const { end, isOver } = reading.index;
  let text = "";
  let isInOrder = true;
  for (const [i, { from }] of reading.segments.entries()) {
    const segment = await reading.segment(i);
    isInOrder &&= segment !== undefined && from === segment.from && from >= (reading.segments[i - 1]?.to ?? 0);
    text += new TextDecoder().decode(segment?.bytes);
  }
  return { text, gaps: gapsWithin(reading.segments, 0, end), end, isOver, isInOrder };
}

export async function kill(stub: Stub): Promise<void> {
  await runInDurableObject(stub, (_object, state) => state.abort("killed by the test")).catch(() => undefined);
}

/** Lines that say where they stand. */
export function lines(from: number, bytes: number): string {
  let text = "";
  while (text.length < bytes) text += `${String(from + text.length).padStart(15, "0")}\n`;
  return text;
}

const STORED_LAG = 600_000;

async function storedEnd(stub: Stub, clock: Clock): Promise<number> {
  const index = await stub.recordingIndex(undefined);
  // An attempt that has failed waits for the next.
  clock.putForward(100);
  return index.kind === "found" ? (index.segments.at(-1)?.to ?? 0) : 0;
}

/** Writes through eight lives of the object. @returns All that was written, once the recording is over. */
export async function writtenThroughDeaths(name: string, clock: Clock): Promise<string> {
  const bridge = new Bridge(stubOf(name), true);
  let written = "";
  for (let life = 0; life < 8; life += 1) {
    const stub = stubOf(name);
    await open(stub, "plain", undefined, true);
    const steps = life % 4 === 3 ? 1 : 5;
    for (let step = 0; step < steps; step += 1) {
      const text = lines(written.length, 100_000);
      written += text;
      await inObject(stub, () => bridge.write(text));
      // The bridge's log has a mebibyte: what is lost beyond with a death would be a gap.
      await expect.poll(() => storedEnd(stub, clock), LIMIT).toBeGreaterThan(written.length - STORED_LAG);
      // In the middle of a segment, of a write, or of waiting for the next attempt.
      if (step === steps - 2) clock.putForward(life * 100);
    }
    if (life < 7) await kill(stub);
  }
  const stub = stubOf(name);
  await inObject(stub, () => bridge.exit(0));
  const isOver = async () => {
    clock.putForward(1_000);
    const index = await stub.recordingIndex(undefined);
    return index.kind === "found" && index.isOver && index.open.length === 0;
  };
  await expect.poll(isOver, LIMIT).toBe(true);
  return written;
}
