// Three pipes for a program's standard streams. Bun.spawn would make socket pairs, which can't be reopened as /dev/stdout.

import { F_SETFL, LibcError, libc, O_CLOEXEC, O_NONBLOCK } from "../base/libc.ts";

export type StreamDescriptors = { stdin: number; stdout: number; stderr: number };
export type Pipes = {
  /** Our ends, non-blocking. */
  ours: StreamDescriptors;
  /** The program's ends, blocking as programs expect; to be closed here once it runs. */
  theirs: StreamDescriptors;
};

/** @throws {LibcError} If the machine has no more descriptors. */
export function openPipes(): Pipes {
  const opened: number[] = [];
  try {
    const [stdin, stdout, stderr] = [pipeOf(opened), pipeOf(opened), pipeOf(opened)];
    // The flag belongs to one end: the program's stays blocking.
    for (const fd of [stdin.write, stdout.read, stderr.read]) setNonBlocking(fd);
    return {
      ours: { stdin: stdin.write, stdout: stdout.read, stderr: stderr.read },
      theirs: { stdin: stdin.read, stdout: stdout.write, stderr: stderr.write },
    };
  } catch (error) {
    for (const fd of opened) libc.close(fd);
    throw error;
  }
}

function pipeOf(opened: number[]): { read: number; write: number } {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw new LibcError("open a pipe");
  const [read = -1, write = -1] = ends;
  opened.push(read, write);
  return { read, write };
}

function setNonBlocking(fd: number): void {
  if (libc.fcntl(fd, F_SETFL, O_NONBLOCK) !== 0) throw new LibcError("make a pipe non-blocking");
}
