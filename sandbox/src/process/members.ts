// Which processes belong to which session, by the kernel. A look costs a system call for each process of the machine: all callers
// until a look begins share it.

import { readdirSync } from "node:fs";
import { setTimeout } from "node:timers";
import { libc } from "../base/libc.ts";
import { log } from "../base/log.ts";

/** Ids of processes, also of zombies, by the id of their session. */
export type Members = ReadonlyMap<number, readonly number[]>;

const SOON_MS = 100;

class SharedLook {
  readonly #begin: (look: () => void) => void;
  #asking: ((members: Members) => void)[] = [];

  /** @param begin Has `look` called in a later turn of the loop. */
  constructor(begin: (look: () => void) => void) {
    this.#begin = begin;
  }

  ask(told: (members: Members) => void): void {
    this.#asking.push(told);
    if (this.#asking.length === 1) this.#begin(() => this.#look());
  }

  #look(): void {
    let members: Members;
    try {
      members = membersNow();
    } catch (error) {
      // Descriptors may have run out. The callers are waiting to end processes.
      log.warn("the list of processes could not be read, and is read again:", error);
      setTimeout(() => this.#look(), SOON_MS);
      return;
    }
    const all = this.#asking;
    this.#asking = [];
    // As microtasks: an error of one callback must not keep the others from running.
    for (const told of all) queueMicrotask(() => told(members));
  }
}

const atOnce = new SharedLook((look) => void setImmediate(look));
const soon = new SharedLook((look) => void setTimeout(look, SOON_MS).unref());

/** In the next turn of the event loop. */
export function askForMembers(told: (members: Members) => void): void {
  atOnce.ask(told);
}

/** After 100 ms: many sessions that end one after another share a look. */
export function askForMembersSoon(told: (members: Members) => void): void {
  soon.ask(told);
}

export function membersNow(): Members {
  const members = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!(pid > 0)) continue;
    const session = libc.getsid(pid);
    const known = members.get(session);
    if (known === undefined) members.set(session, [pid]);
    else known.push(pid);
  }
  return members;
}
