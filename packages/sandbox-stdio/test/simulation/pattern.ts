// The bytes of the simulation: each position has its own, so that loss, doubling and reordering show by position.

import { STREAM_STDERR, STREAM_STDOUT } from "../../src/index.ts";

/** A prime, so that no shift by a power of two goes unnoticed. */
const PERIOD = 65_521;
const SEGMENT = 700;

function mix(n: number): number {
  let t = Math.imul(n + 0x9e37, 0x85eb_ca6b);
  t ^= t >>> 13;
  t = Math.imul(t, 0xc2b2_ae35);
  return (t ^ (t >>> 16)) >>> 0;
}

/** What could begin a terminal query, or ring: on a PTY those are taken out of what a plain client is sent (K6, K6c). */
const QUERY_BYTES: readonly number[] = [0x05, 0x07, 0x1b, 0xc2];

const OUTPUT = new Uint8Array(PERIOD + 65_536);
for (let i = 0; i < OUTPUT.length; i += 1) {
  const byte = mix(i % PERIOD) & 0xff;
  OUTPUT[i] = QUERY_BYTES.includes(byte) ? byte ^ 0x20 : byte;
}

/** Output bytes from `offset` on. */
export function outputBytes(offset: number, length: number): Uint8Array {
  const at = offset % PERIOD;
  return OUTPUT.subarray(at, at + length);
}

/** The stream of the output byte at `offset`, where the process has two. */
export function streamAt(offset: number): typeof STREAM_STDOUT | typeof STREAM_STDERR {
  return mix(Math.floor(offset / SEGMENT)) % 3 === 0 ? STREAM_STDERR : STREAM_STDOUT;
}

/** How many bytes from `offset` on are of one segment. */
export function segmentLeft(offset: number): number {
  return SEGMENT - (offset % SEGMENT);
}

/** The model of a snapshot: a function of its offset, that names it, and of whether it is exact. */
export function snapshotBytes(offset: number, isExact: boolean): Uint8Array {
  const isLong = mix(offset) % 8 === 0;
  const bytes = new Uint8Array(16 + (mix(offset + 1) % (isLong ? 65_520 : 2_000)));
  bytes.set(SNAPSHOT_MARK);
  bytes.set(Buffer.from(offset.toString(36).padStart(8, "0")), 8);
  bytes[7] = isExact ? 1 : 0;
  bytes.set(outputBytes(offset + 7, bytes.length - 16), 16);
  return bytes;
}

const SNAPSHOT_MARK = [0x1b, 0x63, 0x73, 0x6e, 0x61, 0x70];

export function isSnapshot(bytes: Uint8Array, offset: number): { isExact: boolean } | undefined {
  const isExact = bytes[7] === 1;
  return isSame(bytes, snapshotBytes(offset, isExact)) ? { isExact } : undefined;
}

export function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Byte `n` of what party `who` (0 to 7) writes: whose it is in the three high bits. */
export function inputByte(who: number, n: number): number {
  return (who << 5) | (mix(n * 8 + who) & 0x1f);
}
