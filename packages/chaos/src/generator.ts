// The process at the far end: writes f(n), checks what it reads by position, or both. A program of its own, for Bun or
// Node: its only argument is a Work in JSON. Must be runnable as one bundled text, so it needs nothing but Node's modules.

import { createHash } from "node:crypto";
import { readSync, writeSync } from "node:fs";
import { StreamChecker } from "./checker.ts";
import { fill } from "./pattern.ts";
import { chunksOf, EXIT, type InputReport, keyOf, type Work } from "./work.ts";

const FD = { stdin: 0, stdout: 1, stderr: 2 };
const READ_BYTES = 64 * 1024;
/** Of a stream that is nothing but damage, the beginning is enough. */
const MAX_REPORTED = 50;

/** The input so far. */
class Input {
  readonly #work: Work;
  readonly #checker: StreamChecker;
  readonly #hash = createHash("sha256");

  constructor(work: Work) {
    this.#work = work;
    this.#checker = new StreamChecker(keyOf(work.seed, "stdin"));
  }

  take(bytes: Uint8Array): void {
    this.#checker.push(bytes);
    this.#hash.update(bytes);
  }

  report(): InputReport {
    const damages = this.#checker.finish(this.#work.inputBytes).slice(0, MAX_REPORTED);
    return { received: this.#checker.received, sha256: this.#hash.digest("hex"), damages };
  }
}

/** Writes the output. `giveWay` is called after each chunk. */
async function writeOutput(work: Work, giveWay: () => Promise<void> | undefined): Promise<void> {
  const keys = { stdout: keyOf(work.seed, "stdout"), stderr: keyOf(work.seed, "stderr") };
  const offsets = { stdout: 0, stderr: 0 };
  const buffer = new Uint8Array(work.chunkBytes);
  const startedAt = performance.now();
  let written = 0;
  let chunks = 0;
  for (const { stream, length } of chunksOf(work)) {
    const { pause } = work;
    chunks += 1;
    if (pause !== undefined && chunks % pause.chunks === 0)
      await new Promise((resolve) => setTimeout(resolve, pause.ms));
    const bytes = buffer.subarray(0, length);
    fill(bytes, offsets[stream], keys[stream]);
    writeAll(FD[stream], bytes);
    offsets[stream] += length;
    written += length;
    if (work.bytesPerSecond !== undefined) {
      const early = (written / work.bytesPerSecond) * 1000 - (performance.now() - startedAt);
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    }
    await giveWay();
  }
}

/** Reads until the end of input, and writes back what it reads. */
function echo(input: Input): void {
  const buffer = new Uint8Array(READ_BYTES);
  for (let length = read(buffer); length > 0; length = read(buffer)) {
    const bytes = buffer.subarray(0, length);
    input.take(bytes);
    writeAll(FD.stdout, bytes);
  }
}

/** Reads until the end of input, beside whatever else is done. */
async function readAll(input: Input): Promise<void> {
  for await (const chunk of process.stdin) input.take(chunk);
}

async function main(): Promise<number> {
  const work = JSON.parse(process.argv.at(-1) ?? "") as Work;
  const input = new Input(work);
  const reading = work.input === "check" ? readAll(input) : undefined;
  let mayGoOn = work.input !== "go";
  await writeOutput(work, () => {
    if (!mayGoOn) mayGoOn = read(new Uint8Array(1)) >= 0;
    return work.input === "check" ? new Promise<void>((resolve) => setImmediate(resolve)) : undefined;
  });
  if (work.input === "echo") echo(input);
  await reading;
  if (work.input === "none" || work.input === "go") return EXIT.good;
  const report = input.report();
  writeAll(FD.stderr, new TextEncoder().encode(`${JSON.stringify(report)}\n`));
  return report.damages.length === 0 ? EXIT.good : EXIT.badInput;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    done += withPatience(() => writeSync(fd, bytes, done));
  }
}

function read(buffer: Uint8Array): number {
  return withPatience(() => readSync(FD.stdin, buffer));
}

/** This process's parent may have made its ends of the pipes non-blocking. */
function withPatience(step: () => number): number {
  for (;;) {
    try {
      return step();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

main().then(
  (code) => {
    // Not process.exit(), which may hang after much work: https://github.com/nodejs/node/issues/54918
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exit(EXIT.badUse);
  },
);
