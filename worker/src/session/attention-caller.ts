// Tells the tenant of a session's calls for attention. Off by default: a tenant without a receiver is asked again once a minute.

import type { Attention } from "sandbox-stdio/programs";
import { log } from "../base/log.ts";
import type { TenantsEnv } from "../limits/limit-calls.ts";
import type { SessionRecord } from "../records/session-store.ts";

const ASK_AGAIN_MS = 60_000;

export class AttentionCaller {
  readonly #env: TenantsEnv;
  #offUntilMs = 0;

  constructor(env: TenantsEnv) {
    this.#env = env;
  }

  async call({ homeKey, facts }: SessionRecord, attention: Attention): Promise<void> {
    if (homeKey === undefined || Date.now() < this.#offUntilMs) return;
    const { sandbox, session, incarnation } = facts;
    try {
      const isOn = await this.#env.TENANT.getByName(homeKey).attend({ ...attention, sandbox, session, incarnation });
      if (!isOn) this.#offUntilMs = Date.now() + ASK_AGAIN_MS;
    } catch (error) {
      log.warn("a call for attention was not taken:", error);
    }
  }
}
