// Whether a client may attach to a session, by its claimed identity and the state of the session. Knows no sockets.

import {
  CLOSE,
  commandWords,
  dialectNamed,
  LOST_REASON,
  REPLACED_REASON,
  SESSION_GONE_REASON,
} from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import type { Grant } from "../attach/grant.ts";
import type { ResumeSigner } from "../attach/resume.ts";
import type { SessionRecord } from "../records/session-store.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { TicketState } from "../tickets/session-tickets.ts";

/** A client that may attach: as itself again, or as a new one. */
export type Admission = { readonly id: string; readonly isResume: boolean };

export const PROCESS_LOST: Refusal = { code: CLOSE.notFound, error: "not_found", message: LOST_REASON };

/** The refusal for a client whose ticket is used, revoked or expired. */
export function ticketRefusal(why: Exclude<TicketState, "good">): Refusal {
  const error = why === "used" ? "ticket_used" : "ticket_revoked";
  return { code: CLOSE.unauthenticated, error, message: TICKET_WORDS[why] };
}

const TICKET_WORDS = {
  used: "The ticket has been used: each counts once",
  revoked: "The ticket was revoked, or its session is gone",
  removed: SESSION_GONE_REASON,
  replaced: REPLACED_REASON,
} as const;

/**
 * The record that an attach is checked against. The output of a lost process can still be read (X7), unless its session is
 * forgotten when it ends (D6).
 */
export function attachableOf(record: SessionRecord | undefined, { query }: AttachSpec): SessionRecord | undefined {
  const isForgotten = record?.lostAtMs !== undefined && record.isTransient === true;
  return isForgotten && query.resume === undefined ? undefined : record;
}

/** The refusal for a client that asks to drive but may only view. */
export function roleRefusal(role: "driver" | "viewer", { mayExec }: Pick<Grant, "mayExec">): Refusal | undefined {
  if (role !== "driver" || mayExec) return undefined;
  return {
    code: CLOSE.forbidden,
    error: "forbidden",
    message: "to drive needs the scope sandbox:exec; role=viewer does not",
  };
}

/** Whether this client may attach here, by its claimed identity and the state of the session. */
export async function admit(
  spec: AttachSpec,
  record: SessionRecord | undefined,
  signer: ResumeSigner,
): Promise<Admission | Refusal> {
  const { query, who } = spec;
  const wrongRole = roleRefusal(query.role, who);
  if (wrongRole !== undefined) return wrongRole;
  if (query.incarnation !== undefined && query.incarnation !== record?.facts.incarnation) return PROCESS_LOST;
  if (query.resume !== undefined) {
    const claim = await signer.read(query.resume);
    if (claim === undefined) {
      return {
        code: CLOSE.badRequest,
        error: "bad_request",
        message: '"resume" is not one that was given for this session',
      };
    }
    if (claim.subject !== who.subject || claim.role !== query.role) {
      return {
        code: CLOSE.forbidden,
        error: "forbidden",
        message: '"resume" was given to somebody else, or for another role',
      };
    }
    if (record?.facts.incarnation !== claim.incarnation || record.lostAtMs !== undefined) return PROCESS_LOST;
    return { id: claim.client, isResume: true };
  }
  if (query.offset !== undefined && query.offset !== 0) {
    return { code: CLOSE.badRequest, error: "bad_request", message: '"offset" other than 0 needs a "resume"' };
  }
  const wanted = commandWords(query.process);
  if (record !== undefined && wanted !== undefined) {
    const isSame = JSON.stringify(wanted) === JSON.stringify(record.cmd);
    if (!isSame) {
      return {
        code: CLOSE.conflict,
        error: "conflict",
        message: `session "${spec.session}" runs another command: choose another name, or give no command`,
      };
    }
  }
  if (record === undefined && query.role === "viewer") {
    return { code: CLOSE.notFound, error: "not_found", message: `no session "${spec.session}" to view` };
  }
  if (record === undefined && !who.mayCreate) {
    return { code: CLOSE.notFound, error: "not_found", message: `no session "${spec.session}"` };
  }
  const life = dialectNamed(spec.dialect).canResume ? query.attempt?.life : undefined;
  return { id: signer.newId(life ?? crypto.randomUUID(), who.subject, query.role), isResume: false };
}
