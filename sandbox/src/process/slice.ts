// The share of a core that the kernel's scheduler gives this thread at a time. Knows nothing of what the thread does.

import { addressOf, libc, Struct, SYS } from "../base/libc.ts";

/** The least that the kernel gives. Its own is 1.4 ms on two cores. */
const SLICE_NANOSECONDS = 100_000n;

// struct sched_attr
const ATTRIBUTE_BYTES = 56;
const [POLICY, FLAGS, NICE, SLICE] = [4, 8, 16, 24];
const SCHED_OTHER = 0;
/** Threads and processes that are started from here on get the kernel's own slices. */
const SCHED_FLAG_RESET_ON_FORK = 1n;

/**
 * Asks for short slices: this thread is then not put off for a program that it has just woken, and runs at once when it is
 * woken itself. Its share of a busy core stays the same. It is a wish: a kernel before Linux 6.12 hears it and does nothing.
 * @returns Whether the kernel took it.
 */
export function shortenSlices(): boolean {
  const { view, bytes } = new Struct(ATTRIBUTE_BYTES);
  if (libc.syscall(SYS.sched_getattr, 0, addressOf(bytes), ATTRIBUTE_BYTES, 0, 0) !== 0) return false;
  // Another class was chosen by somebody, and so was a priority that the flag would take from our programs.
  if (view.getUint32(POLICY, true) !== SCHED_OTHER || view.getInt32(NICE, true) < 0) return false;
  view.setBigUint64(FLAGS, view.getBigUint64(FLAGS, true) | SCHED_FLAG_RESET_ON_FORK, true);
  view.setBigUint64(SLICE, SLICE_NANOSECONDS, true);
  return libc.syscall(SYS.sched_setattr, 0, addressOf(bytes), 0, 0, 0) === 0;
}
