// The lines about a session's life, from its record.

import { type LifeEnv, type LifeEvent, type LifeFacts, noteLife } from "../life.ts";
import type { SessionRecord } from "./session-store.ts";

export function noteSession(
  env: LifeEnv,
  event: LifeEvent,
  { sandboxKey: sandbox, facts: { session, incarnation }, createdAt }: SessionRecord,
  more: Pick<LifeFacts, "code" | "bytes"> = {},
): void {
  noteLife(env, event, { sandbox, session, incarnation, ms: Date.now() - Date.parse(createdAt), ...more });
}
