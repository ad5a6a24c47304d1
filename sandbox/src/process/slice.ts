// How long the kernel's scheduler lets this thread run at a time.

import { addressOf, libc, Struct, SYS } from "../base/libc.ts";

/** The kernel's minimum. Its default is 1.4 ms on two cores. */
const SLICE_NANOSECONDS = 100_000n;

// struct sched_attr
const ATTRIBUTE_BYTES = 56;
const [POLICY, FLAGS, NICE, SLICE] = [4, 8, 16, 24];
const SCHED_OTHER = 0;
/** Threads and processes that are started from here on get the kernel's default slices. */
const SCHED_FLAG_RESET_ON_FORK = 1n;

/**
 * Asks for short slices: a program that this thread has just woken does not delay it, and it runs at once when it is woken itself.
 * Its share of a busy core stays the same. Kernels before Linux 6.12 accept this and do nothing.
 * @returns Whether the kernel took it.
 */
export function shortenSlices(): boolean {
  const { view, bytes } = new Struct(ATTRIBUTE_BYTES);
  if (libc.syscall(SYS.sched_getattr, 0, addressOf(bytes), ATTRIBUTE_BYTES, 0, 0) !== 0) return false;
  // An operator has chosen another class, or a priority that the flag would take from the processes.
  if (view.getUint32(POLICY, true) !== SCHED_OTHER || view.getInt32(NICE, true) < 0) return false;
  view.setBigUint64(FLAGS, view.getBigUint64(FLAGS, true) | SCHED_FLAG_RESET_ON_FORK, true);
  view.setBigUint64(SLICE, SLICE_NANOSECONDS, true);
  return libc.syscall(SYS.sched_setattr, 0, addressOf(bytes), 0, 0, 0) === 0;
}
