// The API's description of a session, from the store, from the attached clients, or from the bridge.

import {
  defined,
  type KnownClient,
  knownOf,
  type Participant,
  parseListings,
  type RelaySession,
} from "sandbox-stdio/core";
import type { SessionListing } from "../attach/session-calls.ts";
import { askBridge, type BridgeEnv } from "../bridge/upstream.ts";
import type { SessionRecord } from "./session-store.ts";

/**
 * Asking never starts a container.
 * @param writerId The caller's writer `api`, if there is a caller.
 * @param lost Called if the bridge itself says that it does not know the process.
 */
export async function describeSession(
  env: BridgeEnv,
  record: SessionRecord,
  session: RelaySession | undefined,
  writerId?: string,
  lost: () => void = () => undefined,
): Promise<SessionListing> {
  const { facts, createdAt } = record;
  // Told, and about to be stored.
  const exit = record.exit ?? session?.exit;
  const size = facts.tty ? (session?.log.sizeAt(session.log.endOffset) ?? record.size) : undefined;
  const base: Omit<SessionListing, "state" | "offset" | "clients"> = {
    session: facts.session,
    incarnation: facts.incarnation,
    tty: facts.tty,
    cmd: record.cmd[0] ?? "",
    args: record.cmd.slice(1),
    createdAt,
    ...defined({ cols: size?.cols, rows: size?.rows }),
    ...titleOf(session?.title ?? record.title),
    ...lastOutputOf(session?.lastOutputMs ?? record.lastOutputMs),
    ...participantsOf(session),
    ...defined({ recording: record.recording }),
    inputOffset: writerId === undefined ? 0 : receivedOf(writerId, record, session),
  };
  if (exit !== undefined) {
    const offset = session?.log.endOffset ?? record.offset;
    return { ...base, state: "exited", clients: session?.attachedCount ?? 0, offset, exit };
  }
  if (record.lostAtMs !== undefined) {
    return { ...base, state: "lost", clients: session?.attachedCount ?? 0, offset: record.offset };
  }
  if (session !== undefined) {
    return { ...base, state: "running", clients: session.attachedCount, offset: session.log.endOffset };
  }
  const answer = await askBridge(env, record.sandboxKey, { ask: "sessions", session: facts.session });
  const listed = answer?.status === 200 ? parseListings(answer.text ?? "") : undefined;
  const found = listed?.find((one) => one.incarnation === facts.incarnation);
  if (found === undefined && listed !== undefined) lost();
  if (found === undefined) return { ...base, state: "lost", clients: 0, offset: record.offset };
  return {
    ...base,
    state: found.state,
    ...titleOf(found.title),
    clients: 0,
    offset: found.offset,
    ...lastOutputOf(found.lastOutputMs),
    ...defined({ exit: found.exit }),
  };
}

function titleOf(title: string | undefined): { title?: string } {
  return defined({ title: title || undefined });
}

function lastOutputOf(ms: number | undefined): { lastOutputAt?: string } {
  return defined({ lastOutputAt: ms === undefined ? undefined : new Date(ms).toISOString() });
}

export function participantsOf(session: RelaySession | undefined): { participants?: readonly Participant[] } {
  const participants = session?.attachedParticipants ?? [];
  return defined({ participants: participants.length === 0 ? undefined : participants });
}

/** The programs that have written: how far is told also while no client is here (P3). */
export function writersOf(session: RelaySession): KnownClient[] {
  return [...session.clients].filter((client) => client.isProgram).map(knownOf);
}

/** How much was received of this client, as this object knows: it alone passes input on. */
function receivedOf(id: string, { clients = [] }: SessionRecord, session: RelaySession | undefined): number {
  if (session !== undefined) return session.receivedOf(id);
  const known = clients.find((client) => client.id === id);
  return known?.received ?? known?.stdin ?? 0;
}
