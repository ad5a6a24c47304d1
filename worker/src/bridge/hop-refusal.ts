// The refusals that a client gets when the inner hop could not be opened.

import { CLOSE } from "sandbox-stdio/core";
import type { Refusal } from "../refusal/refusal.ts";
import type { HopOutcome } from "./inner-hop.ts";

export function refusalOf(outcome: HopOutcome): Refusal {
  if (outcome.kind === "refused") {
    const code = { 400: CLOSE.badRequest, 404: CLOSE.notFound, 409: CLOSE.conflict, 422: CLOSE.cannotStart }[
      outcome.status
    ];
    if (outcome.error === "logs_full") {
      return { code: CLOSE.unavailable, error: outcome.error, message: outcome.message, retryAfterSeconds: 1 };
    }
    const message = outcome.status === 422 ? `${outcome.error}: ${outcome.message}` : outcome.message;
    return { code: code ?? CLOSE.internal, error: outcome.error, message };
  }
  const { message, retryAfterSeconds, isStopping } =
    outcome.kind === "unreachable" ? outcome : { message: "", retryAfterSeconds: 1, isStopping: false };
  if (isStopping === true) return { code: CLOSE.unavailable, error: "stopping", message, retryAfterSeconds };
  return {
    code: CLOSE.unavailable,
    error: "unavailable",
    message: `the container is not running or did not start: ${message}`,
    retryAfterSeconds,
  };
}
