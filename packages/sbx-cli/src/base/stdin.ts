// Standard input that is not typed: a pipe or a file, read as fast as the session takes it.

import fs from "node:fs";
import { Readable } from "node:stream";

const STDIN = 0;

/** Of the runtime of the compiled program; absent in Node. */
type WithBun = { readonly Bun?: { readonly stdin: { stream(): ReadableStream<Uint8Array> } } };

/** Names a descriptor whose writer says a byte before the input's end, unless it has died: the input is no whole one then. */
export const CONFIRMED_BY = "SBX_INPUT_CONFIRMED_BY";

/** The program's own. */
export function standardInput(env: Readonly<Record<string, string | undefined>> = process.env): Readable {
  const fd = env[CONFIRMED_BY];
  return fd === undefined ? anyInput() : Readable.from(whole(anyInput(), Number(fd)));
}

/** An input that broke off has no end: the process, which must not take it for one, is ended. */
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

/** Node takes a directory or a disk for an empty input: those are read, and fail if they can't be. */
function anyInput(): Readable {
  const stat = fs.fstatSync(STDIN);
  if (!stat.isDirectory() && !stat.isBlockDevice()) {
    const { Bun } = globalThis as WithBun;
    // In Bun 1.4 process.stdin that was paused may never tell its end. Its web stream is pulled, and does.
    return Bun === undefined ? process.stdin : Readable.from(Bun.stdin.stream());
  }
  return fs.createReadStream("", { fd: STDIN, autoClose: false });
}

/** An input that is at its end. */
export function noInput(): Readable {
  return Readable.from([]);
}

export type StdinEvents = {
  /** @returns Whether more may come now; if not, {@link StdinPump.resume} will say when. */
  bytes(bytes: Uint8Array): boolean;
  end(): void;
  failed(error: Error): void;
};

export class StdinPump {
  readonly #input: Readable;
  readonly #events: StdinEvents;
  /** Bytes at the beginning that an earlier life of this client has sent. */
  #skip = 0;
  #isStarted = false;

  constructor(input: Readable, events: StdinEvents) {
    this.#input = input;
    this.#events = events;
  }

  /** @param skip How many bytes at the beginning are left out: they have been sent before. */
  start(skip: number): void {
    this.#skip = skip;
    this.#isStarted = true;
    this.#input.on("data", (chunk: Buffer) => this.#take(chunk));
    this.#input.once("end", () => {
      if (this.#skip > 0) this.#events.failed(new Error(`it ends ${this.#skip} bytes before what was sent earlier`));
      this.#events.end();
    });
    this.#input.once("error", (error: Error) => this.#events.failed(error));
  }

  resume(): void {
    if (this.#isStarted && this.#input.isPaused()) this.#input.resume();
  }

  /** Nothing more is read. */
  stop(): void {
    this.#isStarted = false;
    this.#input.destroy();
  }

  /** The process will never want it: a closed pipe tells the writer, as if the process itself were the reader. */
  refuse(): void {
    if (!this.#isStarted) return;
    this.stop();
    // Node keeps the descriptor open whatever becomes of its stream. Something has to stand in its place.
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
