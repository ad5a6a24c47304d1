// A token bucket: refills at a constant rate up to its capacity. The caller passes the time.

export class TokenBucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #level: number;
  #atMs: number;

  constructor(perSecond: number, capacity: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#capacity = capacity;
    this.#level = capacity;
    this.#atMs = nowMs;
  }

  /** Takes tokens if enough are left. @returns Whether it did. */
  takeIfLeft(count: number, nowMs: number): boolean {
    this.#refill(nowMs);
    if (this.#level < count) return false;
    this.#level -= count;
    return true;
  }

  /** Takes tokens even if too few are left. @param owed Most tokens that may be missing. @returns Whether no more are missing. */
  take(count: number, nowMs: number, owed = 0): boolean {
    this.#refill(nowMs);
    this.spend(count);
    return this.#level >= -owed;
  }

  /** As {@link take}, at the time of the last call. */
  spend(count: number): void {
    this.#level -= count;
  }

  left(nowMs: number): number {
    this.#refill(nowMs);
    return this.#level;
  }

  /** Whether the bucket has refilled completely. */
  isFull(nowMs: number): boolean {
    return this.#level + (nowMs - this.#atMs) * this.#perMs >= this.#capacity;
  }

  get spent(): number {
    return this.#capacity - this.#level;
  }

  /** A clock that was set back refills nothing. */
  #refill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = Math.max(this.#atMs, nowMs);
    this.#level = Math.min(this.#capacity, this.#level + passedMs * this.#perMs);
  }
}
