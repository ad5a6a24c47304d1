// Standard input from a pipe or file, read as fast as the session accepts it.

import fs from "node:fs";
import { Readable } from "node:stream";

const STDIN = 0;

/** Bun's API in the compiled program. */
type WithBun = { readonly Bun?: { readonly stdin: { stream(): ReadableStream<Uint8Array> } } };

/** Descriptor on which the writer confirms the input's end by one byte, so that a killed writer is noticed. */
export const CONFIRMED_BY = "SBX_INPUT_CONFIRMED_BY";

export function standardInput(env: Readonly<Record<string, string | undefined>> = process.env): Readable {
  const fd = env[CONFIRMED_BY];
  return fd === undefined ? anyInput() : Readable.from(whole(anyInput(), Number(fd)));
}

/** If the end is not confirmed the input was cut off: end this program, so that the process does not take it as complete. */
async function* whole(input: Readable, confirmedBy: number): AsyncGenerator<Buffer> {
  yield* input as AsyncIterable<Buffer>;
  if (isConfirmed(confirmedBy)) return;
  process.kill(process.pid, "SIGTERM");
  await new Promise(() => undefined);
}

function isConfirmed(fd: number): boolean {
  try {
    return fs.readSync(fd, Buffer.alloc(1)) === 1;
  } catch {
    return false;
  }
}

/** Node treats a directory or disk as empty input; reading it properly fails or succeeds. */
function anyInput(): Readable {
  const stat = fs.fstatSync(STDIN);
  if (!stat.isDirectory() && !stat.isBlockDevice()) {
    const { Bun } = globalThis as WithBun;
    // In Bun 1.4 a paused process.stdin may never report its end; the web stream does.
    return Bun === undefined ? process.stdin : Readable.from(Bun.stdin.stream());
  }
  return fs.createReadStream("", { fd: STDIN, autoClose: false });
}

export function noInput(): Readable {
  return Readable.from([]);
}

export type StdinEvents = {
  /** @returns Whether more may come now; else {@link StdinPump.resume} follows. */
  bytes(bytes: Uint8Array): boolean;
  end(): void;
  failed(error: Error): void;
};

export class StdinPump {
  readonly #input: Readable;
  readonly #events: StdinEvents;
  /** Bytes that an earlier run has already sent. */
  #skip = 0;
  #isStarted = false;

  constructor(input: Readable, events: StdinEvents) {
    this.#input = input;
    this.#events = events;
  }

  /** @param skip Bytes at the beginning that were sent earlier. */
  start(skip: number): void {
    this.#skip = skip;
    this.#isStarted = true;
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#input.once("end", () => {
      if (this.#skip > 0)
        this.#events.failed(new Error(`it ends ${this.#skip} bytes before the position that was already sent`));
      this.#events.end();
    });
    this.#input.once("error", (error: Error) => this.#events.failed(error));
  }

  resume(): void {
    if (this.#isStarted && this.#input.isPaused()) this.#input.resume();
  }

  stop(): void {
    this.#isStarted = false;
    this.#input.destroy();
  }

  /** The process reads no more: closing the pipe tells its writer, as if the process were the reader. */
  refuse(): void {
    if (!this.#isStarted) return;
    this.stop();
    // Node keeps the descriptor open. Replace it, so that the number is not reused.
    this.#input.once("close", () => {
      fs.closeSync(STDIN);
      fs.openSync("/dev/null", "r");
    });
  }

  #take(chunk: Uint8Array): void {
    const skipped = Math.min(this.#skip, chunk.length);
    this.#skip -= skipped;
    if (skipped === chunk.length) return;
    if (!this.#events.bytes(skipped === 0 ? chunk : chunk.subarray(skipped))) this.#input.pause();
  }
}
