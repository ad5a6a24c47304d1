// The session leader, a direct child of the bridge: its exit, signals to all of its session, and its reaping. Knows process ids, no
// streams.

import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { LibcError, libc, O_NONBLOCK, Struct, SYS } from "../base/libc.ts";
import { askForMembers, askForMembersSoon, type Members, membersNow } from "./members.ts";
import { poller, READABLE, type Watch } from "./poller.ts";

/** Death by signal S: `code` is 128+S and `signal` its name. */
export type ExitStatus = { code: number; signal?: string };

const P_PID = 1;
const WNOHANG = 0x1;
const WEXITED = 0x4;
const WNOWAIT = 0x1000000;
// siginfo_t as waitid fills it.
const SIGINFO_BYTES = 128;
const REASON_OFFSET = 8;
const PID_OFFSET = 16;
const STATUS_OFFSET = 24;
const CLD_EXITED = 1;

/** A dead leader is kept for this long while other processes of its session live. */
const REAP_INTERVAL_MS = 1_000;
const REAP_ATTEMPTS = 60;
/** Looks for processes that were forked while the others were being killed. */
const KILL_ROUNDS = 5;

export class SessionLeader {
  readonly pid: number;
  readonly #pidfd: number;
  readonly #watch: Watch;
  readonly #onExit: (status: ExitStatus) => void;
  #isReaped = false;

  /** @throws {LibcError} If the process can't be watched: the caller still has to reap it. */
  constructor(pid: number, onExit: (status: ExitStatus) => void) {
    this.pid = pid;
    this.#onExit = onExit;
    this.#pidfd = libc.syscall(SYS.pidfd_open, pid, O_NONBLOCK, 0, 0, 0);
    if (this.#pidfd < 0) throw new LibcError(`watch process ${pid}`);
    this.#watch = poller().watch(this.#pidfd, READABLE, () => this.#ended());
  }

  /**
   * Signals every process of the session, also stopped ones and those in other process groups: SIGKILL at once, other signals in the
   * next turn of the event loop. Daemons, which have made sessions of their own, don't belong to it.
   * @throws {RangeError} If there is no such signal.
   */
  signalAll(name: string): void {
    const signal = signalNumber(name);
    // Once reaped, the id may be another session's.
    if (this.#isReaped) return;
    // One look is enough: a process that is forked just now misses this signal, but not SIGKILL.
    if (name === "SIGKILL") this.#killAll(signal);
    else {
      askForMembers((members) => {
        if (!this.#isReaped) for (const pid of this.#of(members)) kill(pid, signal);
      });
    }
  }

  #killAll(signal: number): void {
    const signalled = new Set<number>();
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const fresh = this.#of(membersNow()).filter((pid) => !signalled.has(pid));
      if (fresh.length === 0) return;
      for (const pid of fresh) {
        signalled.add(pid);
        kill(pid, signal);
      }
    }
  }

  #ended(): void {
    const { view: info, bytes } = new Struct(SIGINFO_BYTES);
    // WNOWAIT leaves a zombie: until it is reaped, its id, which is the session's, can't be given to another process.
    if (libc.waitid(P_PID, this.pid, bytes, WEXITED | WNOHANG | WNOWAIT) !== 0) {
      throw new LibcError(`learn how process ${this.pid} ended`);
    }
    if (info.getInt32(PID_OFFSET, true) === 0) return;
    this.#watch.stop();
    libc.close(this.#pidfd);
    this.#reapOnceLast(REAP_ATTEMPTS);
    const status = info.getInt32(STATUS_OFFSET, true);
    this.#onExit(
      info.getInt32(REASON_OFFSET, true) === CLD_EXITED
        ? { code: status }
        : { code: 128 + status, signal: signalName(status) },
    );
  }

  /** Reaps the leader once it is the last process of its session: signalAll reaches the others until then. */
  #reapOnceLast(attempts: number): void {
    askForMembersSoon((members) => {
      if (attempts === 0 || !this.#of(members).some(isAlive)) this.#reap();
      else setTimeout(() => this.#reapOnceLast(attempts - 1), REAP_INTERVAL_MS).unref();
    });
  }

  #reap(): void {
    if (libc.waitid(P_PID, this.pid, new Uint8Array(SIGINFO_BYTES), WEXITED | WNOHANG) !== 0) {
      throw new LibcError(`reap process ${this.pid}`);
    }
    this.#isReaped = true;
  }

  /** Ids of the session's processes, the leader (also a dead one) among them. */
  #of(members: Members): readonly number[] {
    return members.get(this.pid) ?? [];
  }
}

/** False for a zombie: in a container, orphans may never be reaped. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // Behind the name, which may contain any character.
    return stat[stat.lastIndexOf(")") + 2] !== "Z";
  } catch {
    // Gone since it was listed: ENOENT, or ESRCH in the middle of the read.
    return false;
  }
}

/** Kills and reaps a child that could not be taken over. Waits for its death. */
export function abandon(pid: number): void {
  kill(-pid, constants.signals.SIGKILL);
  libc.waitid(P_PID, pid, new Uint8Array(SIGINFO_BYTES), WEXITED);
}

/** Signals a process group. False: it is empty, or it is not ours to signal. */
export function signalGroup(group: number, name: string): boolean {
  return kill(-group, signalNumber(name));
}

function kill(pid: number, signal: number): boolean {
  return libc.kill(pid, signal) === 0;
}

function signalNumber(name: string): number {
  const found = Object.entries(constants.signals).find(([candidate]) => candidate === name);
  if (found === undefined) throw new RangeError(`Cannot send ${name}: no such signal`);
  return found[1];
}

const FIRST_REALTIME_SIGNAL = 34;

function signalName(signal: number): string {
  // The first of several names is the usual one: SIGABRT before SIGIOT, SIGIO before SIGPOLL.
  const found = Object.entries(constants.signals).find(([, value]) => value === signal);
  return found?.[0] ?? `SIGRTMIN+${signal - FIRST_REALTIME_SIGNAL}`;
}
