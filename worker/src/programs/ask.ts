// Asks a session's Durable Object. The Worker repeats a question that changes nothing if the object restarts meanwhile. A call that
// changes something gets an honest 503 instead, and the caller may repeat it.

import type { SessionsEnv } from "../attach/session-calls.ts";
import { type ProgramAnswer, type ProgramCall, refused, requestOf, unpackAnswer } from "./operations/call.ts";

const RETRY_AFTER_SECONDS = 1;
/** Between two questions to an object that restarts. */
const PAUSE_MS = 250;
/** An object restarts within this time. */
const GRACE_MS = 5_000;
/** After this many attempts the caller learns that the object can't be reached. */
const QUESTIONS = 8;

export const RESTARTED: ProgramAnswer = {
  ...refused(503, "unavailable", "the session restarted meanwhile: ask again"),
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

export type Target = { readonly env: SessionsEnv; readonly sessionKey: string; readonly signal: AbortSignal };

/** Asks once. @returns 503 where the object restarted. */
export function ask(target: Target, call: ProgramCall): Promise<ProgramAnswer> {
  return asked(target, call, target.signal);
}

/** The same for what is answered soon: the object does not hear of the caller, whose signal would keep it in memory. */
export function askBriefly(target: Target, call: ProgramCall): Promise<ProgramAnswer> {
  return asked(target, call, undefined);
}

async function asked(
  { env, sessionKey, signal }: Target,
  call: ProgramCall,
  told: AbortSignal | undefined,
): Promise<ProgramAnswer> {
  try {
    const response = await env.SESSION.getByName(sessionKey).fetch(requestOf(call, told));
    return await unpackAnswer(response);
  } catch (error) {
    if (signal.aborted) throw error;
    console.warn("a session's object did not answer:", error);
    return RESTARTED;
  }
}

/**
 * Asks until there is an answer. @param again Makes the call to repeat after a restart; it may have less time left.
 * @param limitMs As of {@link untilAnswered}.
 */
export function askUntilAnswered(target: Target, again: () => ProgramCall, limitMs?: number): Promise<ProgramAnswer> {
  return untilAnswered(target, () => ask(target, again()), limitMs);
}

/** @param asked Asks once. @param limitMs How long the caller wishes to wait: a little later it is not asked again. */
export async function untilAnswered(
  { signal }: Pick<Target, "signal">,
  asked: () => Promise<ProgramAnswer>,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<ProgramAnswer> {
  const untilMs = Date.now() + limitMs + GRACE_MS;
  let answer = await asked();
  for (let i = 1; i < QUESTIONS && answer.status === 503 && !signal.aborted && Date.now() < untilMs; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    answer = await asked();
  }
  return answer;
}
