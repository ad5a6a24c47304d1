// The fate of a delivery to a webhook: when it is tried, how often, and the meaning of its receiver's answer. Pure.

/** One call for attention, on its way to its tenant's receiver. */
export type Delivery = {
  readonly id: string;
  /** The body of the request: JSON. */
  readonly body: string;
  readonly madeAtMs: number;
  readonly attempts: number;
  readonly dueMs: number;
};

/** A status, or undefined where no answer came. */
export type Outcome = { readonly status: number | undefined };

export type Fate =
  | { readonly kind: "delivered" }
  | { readonly kind: "again"; readonly delivery: Delivery }
  | { readonly kind: "given_up" };

/** Of one tenant; beyond, the oldest is dropped: the newest call for attention is the one that matters. */
export const MAX_DELIVERIES = 256;
/** After about an hour and a half: a later call is of no help. */
export const MAX_ATTEMPTS = 10;
const FIRST_RETRY_MS = 5_000;
const MOST_RETRY_MS = 30 * 60_000;
/** Statuses below 500 that pass: too slow, too early, too many. */
const PASSING = [408, 425, 429];

/** @returns Those to drop so that one more has room. */
export function toDrop(queued: readonly Delivery[]): readonly Delivery[] {
  const excess = queued.length + 1 - MAX_DELIVERIES;
  return excess <= 0 ? [] : [...queued].sort((a, b) => a.madeAtMs - b.madeAtMs).slice(0, excess);
}

/** @param chance From 0 to 1: receivers that come back are not met by everything at once. */
export function fateOf(delivery: Delivery, { status }: Outcome, nowMs: number, chance: number): Fate {
  if (status !== undefined && status >= 200 && status < 300) return { kind: "delivered" };
  const attempts = delivery.attempts + 1;
  // A redirect is not followed: it could lead where the address itself may not. It would say the same again.
  const passes = status === undefined || status >= 500 || PASSING.includes(status);
  if (!passes || attempts >= MAX_ATTEMPTS) return { kind: "given_up" };
  const most = Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempts - 1));
  return { kind: "again", delivery: { ...delivery, attempts, dueMs: nowMs + most * (0.5 + chance / 2) } };
}

/** When there is something to do; infinity for never. */
export function nextDueMs(queued: readonly Delivery[]): number {
  return queued.reduce((next, { dueMs }) => Math.min(next, dueMs), Number.POSITIVE_INFINITY);
}
