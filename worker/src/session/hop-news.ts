// The news for clients about the inner hop and the session's end, beside the session's own messages.

import { CLOSE, type RelaySession } from "sandbox-stdio/core";
import type { Refusal } from "../refusal/refusal.ts";

export const REPLACED: Refusal = {
  code: CLOSE.notFound,
  error: "not_found",
  message: "another process has taken the name",
};

/** Tells everybody why there is nothing to wait for. */
export function dismiss(session: RelaySession, { code, message }: Refusal): void {
  for (const client of [...session.clients]) client.peer?.bye(code, message, "never");
}

/** Tells clients that the inner hop is broken, and that it is back: once each. */
export class HopNews {
  #isLost = false;

  lost(session: RelaySession): void {
    if (this.#isLost) return;
    this.#isLost = true;
    for (const client of session.clients) client.peer?.send({ type: "status", status: "lost" });
  }

  /** Only clients that heard of the break are told: a session that has slept opens the hop too. */
  back(session: RelaySession): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    for (const client of session.clients) client.peer?.send({ type: "status", status: "running" });
  }
}
