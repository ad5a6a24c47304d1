// How often one may try to log in. Pure: the time, which must never go back, is handed in.
import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";

const WINDOW_MS = 60_000;
const MOST_ENTRIES = 10_000;
/** Names that are no account's share these: they answer as accounts do, and can't push those out. */
const UNKNOWN_NAMES = 1_024;

/** Counts what happened to each of many within the last minute. */
export class Attempts {
  readonly #most: number;
  readonly #times = new Map<string, readonly number[]>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a try. @returns Seconds until the next one may be; 0: this one may. */
  wait(who: string, nowMs: number): number {
    const recent = (this.#times.get(who) ?? []).filter((at) => nowMs - at < WINDOW_MS);
    const [first = nowMs] = recent;
    const isOver = recent.length >= this.#most;
    const [oldest] = this.#times.keys();
    if (!this.#times.has(who) && this.#times.size >= MOST_ENTRIES && oldest !== undefined) this.#times.delete(oldest);
    this.#times.set(who, isOver ? recent : [...recent, nowMs]);
    return isOver ? Math.max(1, Math.ceil((first + WINDOW_MS - nowMs) / 1000)) : 0;
  }
}

/** An IPv6 client usually has a whole /64 to choose from: that counts as one. */
export function addressKey(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = "", tail] = (address.split("%")[0] ?? "").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

export function accountKey(name: string, isKnown: boolean): string {
  if (isKnown) return name;
  return `?${createHash("sha256").update(name).digest().readUInt16BE() % UNKNOWN_NAMES}`;
}
