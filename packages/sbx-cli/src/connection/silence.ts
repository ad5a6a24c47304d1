// A server that takes a request and says nothing is given up. It begins each answer within 15 s, a long one with a space.

/** Twice that: only its beginning counts, an answer may then take as long as it takes. */
export const SILENCE_MS = 30_000;

/** That a server was silent: to ask it again is of no use. */
export class Silence extends Error {}

/** Fetches, and fails where no answer begins in time; every later call fails at once then, so that repeats add no more of it. */
export function fetchUnlessSilent(ms = SILENCE_MS, ask: typeof fetch = fetch): typeof fetch {
  const silence = new Silence(`no answer for ${Math.round(ms / 1_000)} s`);
  let isSilent = false;
  return async (input, init = {}) => {
    if (isSilent) throw silence;
    const over = new AbortController();
    const timer = setTimeout(() => {
      isSilent = true;
      over.abort(silence);
    }, ms);
    const signals = [over.signal, ...(init.signal ? [init.signal] : [])];
    try {
      return await ask(input, { ...init, signal: AbortSignal.any(signals) });
    } finally {
      clearTimeout(timer);
    }
  };
}
