// Standard output as a regular file may hold bytes that a killed run wrote after it last saved its position. A later run
// compares them with what it receives again, and writes only what is missing.

import fs from "node:fs";
import type { OutputPosition } from "./resume-file.ts";

const STDOUT = 1;

/** The regular file behind standard output, and its length; undefined if it is something else. */
export function stdoutPosition(): OutputPosition | undefined {
  const stat = fs.fstatSync(STDOUT);
  return stat.isFile() ? { dev: stat.dev, ino: stat.ino, size: stat.size } : undefined;
}

export class WrittenFile {
  readonly #fd: number;
  readonly #start: number;
  readonly #end: number;
  #position: number;

  private constructor(fd: number, start: number, end: number) {
    this.#fd = fd;
    this.#start = start;
    this.#end = end;
    this.#position = start;
  }

  /** @returns undefined if nothing was written after `noted`, or it can't be read back. */
  static open(noted: OutputPosition | undefined, now: OutputPosition | undefined): WrittenFile | undefined {
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

  /** Whether all bytes found in the file have been received again. */
  get isDone(): boolean {
    return this.#position >= this.#end;
  }

  /** Length of the file up to the bytes that have been received again. */
  get position(): number {
    return this.#position;
  }

  /**
   * Compares the next bytes of standard output with the file.
   * @returns `rest`: the bytes beyond the file. If the file differs (another program wrote to it), everything is written again:
   *   `again` holds what was skipped before.
   */
  match(bytes: Uint8Array): { readonly again: Uint8Array; readonly rest: Uint8Array } {
    const length = Math.min(bytes.length, this.#end - this.#position);
    const there = this.#read(this.#position, length);
    if (Buffer.compare(there, bytes.subarray(0, length)) !== 0) {
      const again = this.#read(this.#start, this.#position - this.#start);
      this.#close();
      return { again, rest: bytes };
    }
    this.#position += length;
    if (this.isDone) this.#close();
    return { again: bytes.subarray(0, 0), rest: bytes.subarray(length) };
  }

  #close(): void {
    this.#position = this.#end;
    fs.closeSync(this.#fd);
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      const count = fs.readSync(this.#fd, bytes, done, length - done, position + done);
      if (count === 0) break; // The file was truncated meanwhile.
      done += count;
    }
    return bytes.subarray(0, done);
  }
}
