// Gives up on a server that accepts requests but does not respond. A server begins each response within 15 s, and sends something every
// 15 s until it ends (R4).

/** Twice the server's limit, up to the response's beginning. */
export const RESPONSE_TIMEOUT_MS = 30_000;

/** Four times the server's limit. */
export const PAUSE_TIMEOUT_MS = 60_000;

/** The server did not respond; repeating the call is of no use. */
export class Silence extends Error {}

/**
 * Fetches with a limit until the response begins, and for each pause in it: its connection may be lost without a word. After a timeout
 * of the first kind all later calls fail at once, so that retries don't add up.
 */
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
      const response = await fetchImpl(input, { ...init, signal: AbortSignal.any(signals) });
      return response.body === null ? response : new Response(withoutLongPauses(response.body, timeout), response);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** The same bytes. A pause counts only while they are waited for. */
function withoutLongPauses(body: ReadableStream<Uint8Array>, given: AbortController): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        const silence = new Silence(`nothing came for ${PAUSE_TIMEOUT_MS / 1_000} s`);
        const timer = setTimeout(() => given.abort(silence), PAUSE_TIMEOUT_MS);
        const { value, done } = await reader.read().finally(() => clearTimeout(timer));
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
