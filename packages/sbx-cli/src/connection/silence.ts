// Gives up on a server that accepts requests but does not respond. A server begins each response within 15 s, a long one by a space.

/** Twice the server's limit, up to the response's beginning. */
export const RESPONSE_TIMEOUT_MS = 30_000;

/** The server did not respond; repeating the call is of no use. */
export class Silence extends Error {}

/** Fetches with a limit until the response begins. After one timeout all later calls fail at once, so that retries don't add up. */
export function fetchUnlessSilent(ms = RESPONSE_TIMEOUT_MS, fetchImpl: typeof fetch = fetch): typeof fetch {
  const silence = new Silence(`no response for ${Math.round(ms / 1_000)} s`);
  let isSilent = false;
  return async (input, init = {}) => {
    if (isSilent) throw silence;
    const timeout = new AbortController();
    const timer = setTimeout(() => {
      isSilent = true;
      timeout.abort(silence);
    }, ms);
    const signals = [timeout.signal, init.signal].filter((signal) => signal instanceof AbortSignal);
    try {
      return await fetchImpl(input, { ...init, signal: AbortSignal.any(signals) });
    } finally {
      clearTimeout(timer);
    }
  };
}
