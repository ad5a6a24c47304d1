// Answers that nobody waits for any more: whether that was said by a signal or by a time, what comes then is let go of.

import { inTime } from "../base/in-time.ts";

/** Lets go of an answer that still comes: its WebSocket, or its body, would keep a connection open, and count as a use of its container. */
export function letGo(answer: Promise<Response | undefined>): void {
  answer
    .then(async (response) => {
      response?.webSocket?.accept();
      response?.webSocket?.close(1001);
      await response?.body?.cancel();
    })
    .catch(() => undefined); // It has failed by itself, and nobody is to be told.
}

/** @throws {unknown} The reason of `signal`, once it is aborted. */
export async function whileWanted(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
  });
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([answer, givenUp]);
  } catch (error) {
    letGo(answer);
    throw error;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

/** @returns undefined if `answer` does not come in time. */
export async function responseInTime(
  answer: Promise<Response | undefined>,
  patienceMs: number,
): Promise<Response | undefined> {
  const response = await inTime(answer, patienceMs);
  if (response === undefined) letGo(answer);
  return response;
}
