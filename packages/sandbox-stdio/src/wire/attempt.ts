// Numbers a client's connections, so that a delayed one does not take the place of a later one.

/** `number` counts the connections within one `life` of the client program. */
export type Attempt = { readonly life: string; readonly number: number };

/** The name of a life: its start time in base 36 (9 digits), then 7 random digits. */
const BORN_DIGITS = 9;
const CHANCE_DIGITS = 7;
/** Longest time that a handshake can be delayed. If the lives began further apart, their clocks differed. */
const MAX_DELAY_MS = 60_000;

/** @param chance From 0 to 1, 1 excluded. */
export function lifeName(bornAtMs: number | undefined, chance: number): string {
  const random = Math.floor(chance * 36 ** CHANCE_DIGITS)
    .toString(36)
    .padStart(CHANCE_DIGITS, "0");
  return bornAtMs === undefined ? random : Math.floor(bornAtMs).toString(36).padStart(BORN_DIGITS, "0") + random;
}

/** Whether this connection was made before the client's newest one and arrived late. */
export function isDelayed(attempt: Attempt, newest: Attempt): boolean {
  if (attempt.life === newest.life) return attempt.number < newest.number;
  const earlierMs = bornAtMs(newest.life) - bornAtMs(attempt.life);
  return earlierMs > 0 && earlierMs < MAX_DELAY_MS;
}

function bornAtMs(life: string): number {
  return life.length === BORN_DIGITS + CHANCE_DIGITS ? Number.parseInt(life.slice(0, BORN_DIGITS), 36) : Number.NaN;
}

/** `LIFE.NUMBER`, as the attach query has it. */
export const ATTEMPT = /^([0-9a-z]{1,16})\.(\d{1,12})$/;
