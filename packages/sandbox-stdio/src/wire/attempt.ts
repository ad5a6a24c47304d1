// The number of a client's connection, so that one that was held up on its way does not take a later one's place.

/** The number of a client's connection: `number` counts within one `life` of the program. */
export type Attempt = { readonly life: string; readonly number: number };

/** A life's name begins with when it began, in as many digits of base 36, and goes on with as many of chance. */
const BORN_DIGITS = 9;
const CHANCE_DIGITS = 7;
/** A handshake is not held up for longer on its way. A life that began so much earlier had another clock. */
const MAX_HELD_UP_MS = 60_000;

/** @param chance From 0 to 1, 1 excluded. */
export function lifeName(bornAtMs: number | undefined, chance: number): string {
  const random = Math.floor(chance * 36 ** CHANCE_DIGITS)
    .toString(36)
    .padStart(CHANCE_DIGITS, "0");
  return bornAtMs === undefined ? random : Math.floor(bornAtMs).toString(36).padStart(BORN_DIGITS, "0") + random;
}

/** Whether this connection was made before the other of the same client, and was only held up on its way. */
export function isHeldUp(attempt: Attempt, newest: Attempt): boolean {
  if (attempt.life === newest.life) return attempt.number < newest.number;
  const earlierMs = bornAtMs(newest.life) - bornAtMs(attempt.life);
  return earlierMs > 0 && earlierMs < MAX_HELD_UP_MS;
}

function bornAtMs(life: string): number {
  return life.length === BORN_DIGITS + CHANCE_DIGITS ? Number.parseInt(life.slice(0, BORN_DIGITS), 36) : Number.NaN;
}

/** `LIFE.NUMBER`, as the attach query has it. */
export const ATTEMPT = /^([0-9a-z]{1,16})\.(\d{1,12})$/;
