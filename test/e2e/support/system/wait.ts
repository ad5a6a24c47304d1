// Waiting for what can't be listened to: asked again and again, with a limit that says what was waited for.
import { setTimeout as delay } from "node:timers/promises";

/** From the first question to the second; the pauses grow by half, since what is asked is at work for each answer. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;
/** Long: the machine may be busy. Nothing waits this long unless it fails. With containers longer: most tests start one. */
export const LIMIT_MS = Number(process.env.TEST_LIMIT_MS ?? 240_000);

/**
 * The first answer of `ask` that is neither undefined nor false.
 * @param longestPauseMs From one question to the next, at most.
 * @throws {Error} After the limit, naming `what`.
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = LIMIT_MS,
  longestPauseMs = LONGEST_PAUSE_MS,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (let pauseMs = Math.min(FIRST_PAUSE_MS, longestPauseMs); ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what}`);
    await delay(pauseMs);
  }
}

/** `promise`, or an error naming `what` after the limit. */
export async function within<T>(what: string, promise: Promise<T>, limitMs = LIMIT_MS): Promise<T> {
  const controller = new AbortController();
  const late = delay(limitMs, undefined, { signal: controller.signal }).then(() => {
    throw new Error(`Waited ${limitMs} ms for ${what}`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    controller.abort();
    late.catch(() => undefined);
  }
}

/**
 * What moves much input may be slow, since each 128 KiB of it wait for the disk. It does not stand still for longer than a
 * server may take to come up again, or a connection on which nothing comes to be given up and made anew.
 */
const STANDSTILL_MS = 150_000;
/** For a test of that: longer than any disk makes it. */
export const MOVING_MS = 900_000;

/**
 * `promise`, which may take as long as it moves on: or an error once `progress` has been the same for `limitMs`, which
 * says of `what` where it stands and what `describe` knows of it.
 */
export async function whileMoving<T>(
  what: string,
  promise: Promise<T>,
  progress: () => number,
  describe: () => string,
  limitMs = STANDSTILL_MS,
): Promise<T> {
  const controller = new AbortController();
  const watch = async (): Promise<never> => {
    for (let [last, since] = [progress(), performance.now()]; performance.now() - since < limitMs; ) {
      await delay(LONGEST_PAUSE_MS, undefined, { signal: controller.signal });
      if (progress() !== last) [last, since] = [progress(), performance.now()];
    }
    throw new Error(`${what} stood still for ${limitMs} ms, at ${progress()}. ${describe()}`);
  };
  const stuck = watch();
  try {
    return await Promise.race([promise, stuck]);
  } finally {
    controller.abort();
    stuck.catch(() => undefined);
  }
}
