// The lines about a session's life, from its record.

import type { SessionRecord } from "../records/session-store.ts";
import { type LifeEnv, type LifeEvent, type LifeFacts, noteLife } from "../refusal/life.ts";

export function noteSession(
  env: LifeEnv,
  event: LifeEvent,
  { homeKey: tenant, sandboxKey: sandbox, facts: { session, incarnation }, createdAt }: SessionRecord,
  more: Pick<LifeFacts, "request" | "code" | "bytes"> = {},
): void {
  const { request, ...rest } = more;
  const ms = Date.now() - Date.parse(createdAt);
  noteLife(env, event, { request, tenant, sandbox, session, incarnation, ms, ...rest });
}
