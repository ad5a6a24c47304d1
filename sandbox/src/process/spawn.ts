// Starts a program as the leader of a new session, with posix_spawn(3): one call, no shell. Knows of terminals only that a session
// leader that opens one makes it its controlling terminal.

import { openSync, readFileSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { cString, cStrings, errnoName, LibcError, libc, O_RDWR, optionalLibc } from "../base/libc.ts";
import type { StartFault } from "./command.ts";

/** The program's descriptors 0, 1 and 2: a terminal by its path, or three descriptors of ours. */
export type StandardStreams =
  | { kind: "terminal"; path: string }
  | { kind: "descriptors"; stdin: number; stdout: number; stderr: number };

const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
// Larger than the opaque structures of any libc.
const ACTIONS_BYTES = 256;
const ATTRIBUTES_BYTES = 1024;
const SIGNAL_SET_BYTES = 128;

/** Makes the kernel end our processes before the bridge when memory runs out: added to its count, in thousandths of the memory. */
const CHILD_ADJUSTMENT = 500;
const RANK_FILE = "/proc/self/oom_score_adj";
const ownRank = readOwnRank();

/** Every signal back to its default and none blocked: the runtime ignores SIGPIPE, which a child would inherit. */
const attributes = new Uint8Array(ATTRIBUTES_BYTES);
const allSignals = new Uint8Array(SIGNAL_SET_BYTES);
libc.sigfillset(allSignals);
libc.posix_spawnattr_init(attributes);
libc.posix_spawnattr_setsigdefault(attributes, allSignals);
libc.posix_spawnattr_setflags(attributes, SETSIGDEF | SETSIGMASK | SETSID);

const { E2BIG, EAGAIN, EMFILE, ENFILE, ENOENT, ENOEXEC, ENOMEM } = constants.errno;
/** Errors of an exhausted machine, which say nothing about the program. */
const EXHAUSTED: readonly number[] = [EAGAIN, ENOMEM, EMFILE, ENFILE];
/** What an error means, given that the program and the directory existed a moment ago. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [ENOENT, "its interpreter is missing"],
  [ENOEXEC, "not a program or script (ENOEXEC)"],
  [E2BIG, "its arguments are too long (E2BIG)"],
]);

/**
 * Runs the program at the absolute `path`. The call returns once the kernel has accepted it, so that a refusal (bad
 * interpreter, wrong format, arguments too long) is known here. The child gets no descriptor but the three.
 * @returns The process id. The caller has to reap the process.
 */
export function spawn(
  path: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  streams: StandardStreams,
): number | StartFault {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  if ([...argv, ...variables].some((text) => text.includes("\0"))) {
    return { fault: "cmd_not_executable", detail: `Cannot execute ${path}: an argument or variable holds a NUL` };
  }
  const program = cString(path);
  const directory = cString(cwd);
  const terminal = cString(streams.kind === "terminal" ? streams.path : "");
  const argumentList = cStrings(argv);
  const environment = cStrings(variables);
  const pid = new Int32Array(1);
  const actions = new Uint8Array(ACTIONS_BYTES);
  check(libc.posix_spawn_file_actions_init(actions));
  let failure: number;
  try {
    if (streams.kind === "terminal") {
      check(libc.posix_spawn_file_actions_addopen(actions, 0, terminal, O_RDWR, 0));
      check(libc.posix_spawn_file_actions_adddup2(actions, 0, 1));
      check(libc.posix_spawn_file_actions_adddup2(actions, 0, 2));
    } else {
      check(libc.posix_spawn_file_actions_adddup2(actions, streams.stdin, 0));
      check(libc.posix_spawn_file_actions_adddup2(actions, streams.stdout, 1));
      check(libc.posix_spawn_file_actions_adddup2(actions, streams.stderr, 2));
    }
    check(libc.posix_spawn_file_actions_addchdir_np(actions, directory));
    // The bridge's own descriptors are close-on-exec; those that its parent left open need not be.
    if (optionalLibc !== undefined) check(optionalLibc.posix_spawn_file_actions_addclosefrom_np(actions, 3));
    const { pointers } = argumentList;
    failure = startExpendable(() =>
      libc.posix_spawn(pid, program, actions, attributes, pointers, environment.pointers),
    );
  } finally {
    libc.posix_spawn_file_actions_destroy(actions);
    // Keeps the collector from freeing the strings while C reads them.
    argumentList.bytes.fill(0);
    environment.bytes.fill(0);
  }
  if (failure === 0) return pid[0] ?? 0;
  const reason = REASONS.get(failure) ?? errnoName(failure);
  if (EXHAUSTED.includes(failure)) return { fault: "start_failed", detail: `Cannot start ${path}: ${reason}` };
  return { fault: "cmd_not_executable", detail: `Cannot execute ${path}: ${reason}` };
}

function check(code: number): void {
  if (code !== 0) throw new LibcError("prepare a process", code);
}

/** Opened early: once the bridge hides its memory it may have lost the right to open this. */
function readOwnRank(): { readonly fd: number; readonly adjustment: number } | undefined {
  try {
    const adjustment = Number(readFileSync(RANK_FILE, "utf8"));
    return adjustment < CHILD_ADJUSTMENT ? { fd: openSync(RANK_FILE, "r+"), adjustment } : undefined;
  } catch {
    return undefined; // No /proc, or no right to change it: bridge and processes have one rank then.
  }
}

/** Runs `start`, whose new process inherits the higher rank. */
function startExpendable<T>(start: () => T): T {
  if (ownRank === undefined) return start();
  adjust(ownRank.fd, CHILD_ADJUSTMENT);
  try {
    return start();
  } finally {
    adjust(ownRank.fd, ownRank.adjustment);
  }
}

function adjust(fd: number, adjustment: number): void {
  try {
    writeSync(fd, String(adjustment), 0);
  } catch {
    // The kernel refuses: a start matters more than its rank.
  }
}
