// How long a session is kept: its process while clients may come back, and its exit while they may ask for it (L7, X5). All times
// are milliseconds of one clock.

import { EXITED_KEEP_MS } from "sandbox-stdio/core";

/** The creator of a process has this long to attach to it, however short its `keep`. */
const FIRST_ATTACH_MS = 10_000;

export class Lifespan {
  readonly #keepMs: number;
  readonly #exitedKeepMs: number;
  /** When the last client left; in the future until the first attach is due. Undefined while a client is attached. */
  #abandonedAtMs: number | undefined;
  #exitedAtMs: number | undefined;
  #isEnding = false;

  /** @param keepMs How long the process runs on without a client. @param keepExitedMs The least time for which its exit can be asked for. */
  constructor(keepMs: number, keepExitedMs: number, nowMs: number) {
    this.#keepMs = keepMs;
    this.#exitedKeepMs = Math.max(EXITED_KEEP_MS, keepExitedMs);
    this.#abandonedAtMs = nowMs + FIRST_ATTACH_MS;
  }

  get hasExited(): boolean {
    return this.#exitedAtMs !== undefined;
  }

  exited(nowMs: number): void {
    this.#exitedAtMs = nowMs;
  }

  /** @param isAttended Whether a client is attached, or a program's call keeps the process. */
  look(isAttended: boolean, nowMs: number): void {
    if (isAttended) this.#abandonedAtMs = undefined;
    else this.#abandonedAtMs ??= nowMs;
  }

  /** A program's call counts as a short visit. */
  called(nowMs: number): void {
    if (this.#abandonedAtMs !== undefined) this.#abandonedAtMs = nowMs;
  }

  /** When something is {@link due} next; infinity for never. */
  get nextMs(): number {
    if (this.#exitedAtMs !== undefined) return this.#exitedAtMs + this.#exitedKeepMs;
    if (this.#abandonedAtMs === undefined || this.#isEnding) return Number.POSITIVE_INFINITY;
    return this.#abandonedAtMs + this.#keepMs;
  }

  /** `end`, once: the process has been kept for long enough. `forget`: so has its exit. */
  due(nowMs: number): "forget" | "end" | undefined {
    if (this.nextMs > nowMs) return undefined;
    if (this.hasExited) return "forget";
    this.#isEnding = true;
    return "end";
  }
}
