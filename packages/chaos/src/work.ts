// The orders of a run's process, and the part of its output that is known beforehand: shared by the process and its checker.

import { Random } from "../../local/src/base/random.ts";
import type { Damage } from "./checker.ts";
import type { StreamKey } from "./pattern.ts";

export type Work = {
  readonly seed: number;
  /** Bytes to write, on both streams together. */
  readonly outputBytes: number;
  /** The part of the output's chunks that goes to stderr, from 0 to 1. On a PTY there is only one stream: 0. */
  readonly stderrShare: number;
  /** The largest chunk to write at once. */
  readonly chunkBytes: number;
  /** Absent: as fast as it goes. */
  readonly bytesPerSecond?: number;
  /** Before every so many chunks nothing is written for so long: the session may be parked. */
  readonly pause?: { readonly chunks: number; readonly ms: number };
  /**
   * `go`: wait for one byte after the first chunk of output. `check`: hold the input against its pattern. `echo`: also write it to
   * stdout, so that nothing else may go there.
   */
  readonly input: "none" | "go" | "check" | "echo";
  /** Bytes of input to come, before its end. */
  readonly inputBytes: number;
};

/** The process's report on its input, as one line of JSON on stderr after everything else. */
export type InputReport = {
  readonly received: number;
  /** Hexadecimal, of all that was received. */
  readonly sha256: string;
  readonly damages: readonly Damage[];
};

/** Exit codes of the process. */
export const EXIT = { good: 0, badUse: 2, badInput: 3 } as const;

export function keyOf(seed: number, stream: "stdin" | "stdout" | "stderr"): StreamKey {
  return new Random(seed, stream).int(0, 0xffff_ffff);
}

export type Chunk = { readonly stream: "stdout" | "stderr"; readonly length: number };

/** The writes of the process, in order: how large, and to which stream. */
export function* chunksOf(work: Pick<Work, "seed" | "outputBytes" | "stderrShare" | "chunkBytes">): Generator<Chunk> {
  const random = new Random(work.seed, "chunks");
  for (let left = work.outputBytes; left > 0; ) {
    const length = Math.min(left, random.scale(1, work.chunkBytes));
    yield { stream: random.chance(work.stderrShare) ? "stderr" : "stdout", length };
    left -= length;
  }
}

/** How much the process writes to each stream, its report not counted. */
export function lengthsOf(work: Work): { readonly stdout: number; readonly stderr: number } {
  const lengths = { stdout: 0, stderr: 0 };
  for (const { stream, length } of chunksOf(work)) lengths[stream] += length;
  if (work.input === "echo") lengths.stdout += work.inputBytes;
  return lengths;
}
