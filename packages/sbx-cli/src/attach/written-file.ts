// Standard output where it is a regular file: the bytes that a killed run wrote after its last note are still there.
// A later run compares what it receives again with that, and writes only what is missing: each byte is there once.

import fs from "node:fs";
import type { OutputPlace } from "./resume-file.ts";

const STDOUT = 1;

/** The file behind standard output, and its length now; undefined if it is no regular file. */
export function stdoutPlace(): OutputPlace | undefined {
  const stat = fs.fstatSync(STDOUT);
  return stat.isFile() ? { dev: stat.dev, ino: stat.ino, size: stat.size } : undefined;
}

export class WrittenFile {
  readonly #fd: number;
  readonly #start: number;
  readonly #end: number;
  #ports: number;

  private constructor(fd: number, start: number, end: number) {
    this.#fd = fd;
    this.#start = start;
    this.#end = end;
    this.#ports = start;
  }

  /** @returns undefined where nothing was written after `noted`, or it can't be read back: then it is written again. */
  static open(noted: OutputPlace | undefined, now: OutputPlace | undefined): WrittenFile | undefined {
    if (noted === undefined || now === undefined) return undefined;
    if (noted.dev !== now.dev || noted.ino !== now.ino || now.size <= noted.size) return undefined;
    try {
      // Standard output itself is open for writing only.
      return new WrittenFile(fs.openSync(`/proc/self/fd/${STDOUT}`, "r"), noted.size, now.size);
    } catch {
      // No /proc, or no permission to read it.
      return undefined;
    }
  }

  /** Whether everything that was found there has been received again. */
  get isDone(): boolean {
    return this.#ports >= this.#end;
  }

  /** Length of the file up to the bytes that have been received again. */
  get position(): number {
    return this.#ports;
  }

  /**
   * Compares the next bytes of standard output with the file's.
   * @returns `rest`: the bytes beyond the file, to be written now. Where the file has something else (another program wrote
   *   there too) the bytes' writers can't be told apart: then everything is written again, with `again` before it.
   */
  match(bytes: Uint8Array): { readonly again: Uint8Array; readonly rest: Uint8Array } {
    const length = Math.min(bytes.length, this.#end - this.#ports);
    const there = this.#read(this.#ports, length);
    if (Buffer.compare(there, bytes.subarray(0, length)) !== 0) {
      const again = this.#read(this.#start, this.#ports - this.#start);
      this.#close();
      return { again, rest: bytes };
    }
    this.#ports += length;
    if (this.isDone) this.#close();
    return { again: bytes.subarray(0, 0), rest: bytes.subarray(length) };
  }

  #close(): void {
    this.#ports = this.#end;
    fs.closeSync(this.#fd);
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      const count = fs.readSync(this.#fd, bytes, done, length - done, position + done);
      if (count === 0) break; // It was cut meanwhile: then it is not the same.
      done += count;
    }
    return bytes.subarray(0, done);
  }
}
