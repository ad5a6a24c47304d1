// A call's writer as a client of the session, with the rights of one (K9).

import type { ClientRecord, RelaySession } from "sandbox-stdio/core";
import type { SessionAudit } from "../../audit/session-audit.ts";
import type { ProgramCall } from "./call.ts";

/** @returns undefined if 64 writers have called this process. Otherwise `endCall` ends the call. */
export function beginCall(
  session: RelaySession,
  { who, actor }: ProgramCall,
  { id, writer }: { readonly id: string; readonly writer: string },
  audit: SessionAudit | undefined,
): ClientRecord | undefined {
  audit?.acting(id, actor);
  const { name, isAdmin } = who;
  return session.programs.beginCall({ id, name: writer === "api" ? name : `${name} ${writer}`, isAdmin });
}
