// The answer that a program gets for the refusal of an attach.

import { CLOSE, defined, httpStatusOf } from "sandbox-stdio/core";
import type { Refusal } from "../refusal/refusal.ts";
import { type ProgramAnswer, refused } from "./operations/call.ts";

/** When a caller that meets a full house is asked to come back. */
export const FULL_RETRY_SECONDS = 5;

export function answerOf({ code, error, message, retryAfterSeconds }: Refusal): ProgramAnswer {
  const status = httpStatusOf(code);
  const seconds = retryAfterSeconds ?? (code === CLOSE.unavailable ? FULL_RETRY_SECONDS : undefined);
  return { ...refused(status, error, message), ...defined({ retryAfterSeconds: seconds }) };
}
