// The C library through bun:ffi: the calls that Bun and Node do not offer, their constants and errno.
// Knows nothing of processes or sessions; Linux with glibc only.

import { dlopen, FFIType, ptr, read } from "bun:ffi";
import { constants } from "node:os";

const { i32, u32, i64, u64, ptr: pointer } = FFIType;

if (process.platform !== "linux") throw new Error(`Cannot run processes on ${process.platform}: needs Linux`);

// Lengths and results stay below 2^31 here, so ssize_t is read as i32: the 64-bit types would make a BigInt per call.
const { symbols } = dlopen("libc.so.6", {
  __errno_location: { args: [], returns: pointer },
  close: { args: [i32], returns: i32 },
  connect: { args: [i32, pointer, u32], returns: i32 },
  epoll_create1: { args: [i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
  epoll_wait: { args: [i32, pointer, i32, i32], returns: i32 },
  execve: { args: [pointer, pointer, pointer], returns: i32 },
  dup2: { args: [i32, i32], returns: i32 },
  eventfd: { args: [u32, i32], returns: i32 },
  fcntl: { args: [i32, i32, i64], returns: i32 },
  kill: { args: [i32, i32], returns: i32 },
  getsid: { args: [i32], returns: i32 },
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  // The third argument is a number or an address (see addressOf).
  ioctl: { args: [i32, u64, u64], returns: i32 },
  pipe2: { args: [pointer, i32], returns: i32 },
  poll: { args: [pointer, u64, i32], returns: i32 },
  posix_openpt: { args: [i32], returns: i32 },
  posix_spawn: { args: [pointer, pointer, pointer, pointer, pointer, pointer], returns: i32 },
  posix_spawn_file_actions_addchdir_np: { args: [pointer, pointer], returns: i32 },
  posix_spawn_file_actions_adddup2: { args: [pointer, i32, i32], returns: i32 },
  posix_spawn_file_actions_addopen: { args: [pointer, i32, pointer, i32, u32], returns: i32 },
  posix_spawn_file_actions_destroy: { args: [pointer], returns: i32 },
  posix_spawn_file_actions_init: { args: [pointer], returns: i32 },
  posix_spawnattr_init: { args: [pointer], returns: i32 },
  posix_spawnattr_setflags: { args: [pointer, i32], returns: i32 },
  posix_spawnattr_setsigdefault: { args: [pointer, pointer], returns: i32 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  ptsname_r: { args: [i32, pointer, u64], returns: i32 },
  read: { args: [i32, pointer, u64], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  shutdown: { args: [i32, i32], returns: i32 },
  sigfillset: { args: [pointer], returns: i32 },
  socket: { args: [i32, i32, i32], returns: i32 },
  // Addresses go in as numbers (see addressOf); the kernel ignores the registers it has no use for.
  syscall: { args: [i64, i64, i64, i64, i64, i64], returns: i32 },
  tcgetattr: { args: [i32, pointer], returns: i32 },
  tcgetpgrp: { args: [i32], returns: i32 },
  tcsetattr: { args: [i32, i32, pointer], returns: i32 },
  unlockpt: { args: [i32], returns: i32 },
  waitid: { args: [i32, i32, pointer, i32], returns: i32 },
  write: { args: [i32, pointer, u64], returns: i32 },
});

/** The C functions by name. Failures are -1 with {@link errno} set, unless their manual page says otherwise. */
export const libc = symbols;

/** Functions that only glibc 2.34 and newer have; undefined on an older one. */
export const optionalLibc = loadOptional();

function loadOptional() {
  try {
    return dlopen("libc.so.6", {
      posix_spawn_file_actions_addclosefrom_np: { args: [pointer, i32], returns: i32 },
    }).symbols;
  } catch {
    // Bun's error for a missing symbol has no code to tell it by; a missing library has failed above already.
    return undefined;
  }
}

const errnoAddress = symbols.__errno_location();
if (errnoAddress === null) throw new Error("Cannot find errno: __errno_location gave null");

/** The error number of the last failed call on this thread. Read it at once: the runtime makes system calls too. */
export function errno(): number {
  return read.i32(errnoAddress as NonNullable<typeof errnoAddress>, 0);
}

/** An error number's name, such as `EAGAIN`. */
export function errnoName(code: number): string {
  const found = Object.entries(constants.errno).find(([, value]) => value === code);
  return found === undefined ? `errno ${code}` : found[0];
}

/** A call of the C library failed: the machine is exhausted, or the bridge has a bug. `code` is the error number. */
export class LibcError extends Error {
  readonly code: number;

  /** @param code By default errno: make the error before anything else runs. */
  constructor(action: string, code: number = errno()) {
    super(`Cannot ${action}: ${errnoName(code)}`);
    this.code = code;
  }
}

/** Bytes of a C string. Throws a RangeError if `text` holds a NUL, which C would take for its end. */
export function cString(text: string): Uint8Array {
  if (text.includes("\0")) throw new RangeError("Cannot make a C string: the text holds a NUL");
  return Buffer.from(`${text}\0`);
}

/**
 * A list of strings as C programs are given them: pointers, the last one null. None holds a NUL. All are in one piece of
 * memory, `bytes`, which the caller keeps reachable for as long as C may look there.
 */
export function cStrings(texts: readonly string[]): { bytes: Uint8Array; pointers: BigUint64Array } {
  const bytes = Buffer.from(`${texts.join("\0")}\0`);
  const pointers = new BigUint64Array(texts.length + 1);
  const start = addressOf(bytes);
  for (let i = 0, at = 0; i < texts.length; i += 1) {
    pointers[i] = start + BigInt(at);
    at = bytes.indexOf(0, at) + 1;
  }
  return { bytes, pointers };
}

/** The address of `bytes`. The caller keeps `bytes` reachable for as long as C may look there. */
export function addressOf(bytes: NodeJS.TypedArray): bigint {
  return BigInt(ptr(bytes));
}

/**
 * Memory for a C structure. Buffer first, then the views: JavaScriptCore keeps a small typed array's bytes elsewhere,
 * and moves them, silently and away from any address taken, when its `buffer` is asked for.
 */
export class Struct {
  readonly view: DataView<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(byteLength: number) {
    this.view = new DataView(new ArrayBuffer(byteLength));
    this.bytes = new Uint8Array(this.view.buffer);
  }
}

export const O_RDWR = 0o2;
export const O_NOCTTY = 0o400;
export const O_NONBLOCK = 0o4000;
export const O_CLOEXEC = 0o2000000;
export const F_SETFL = 4;
export const F_DUPFD_CLOEXEC = 1030;

const isX64 = process.arch === "x64";
/** System calls without a wrapper in glibc. x86-64 has its own table, arm64 (not tested) the generic one. */
export const SYS = {
  pidfd_open: 434,
  sched_getattr: isX64 ? 315 : 275,
  sched_setattr: isX64 ? 314 : 274,
} as const;
