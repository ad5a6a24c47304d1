// A call under way, as the session's lifetimes know connections: its token may run out, or be revoked.

import { httpStatusOf } from "sandbox-stdio/core";
import type { Bounded } from "../sockets/lifetimes.ts";
import { type ProgramAnswer, refused } from "./operations/call.ts";

export class OpenCall implements Bounded {
  isEnded = false;
  /** Resolves with the caller's answer if the call is ended from outside. */
  readonly dismissed: Promise<ProgramAnswer>;
  #resolve: (answer: ProgramAnswer) => void = () => undefined;

  constructor() {
    this.dismissed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  dismiss(code: number, reason: string): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const status = httpStatusOf(code);
    this.#resolve(refused(status, status === 401 ? "revoked" : "ended", reason));
  }
}
