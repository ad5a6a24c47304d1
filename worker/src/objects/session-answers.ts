// What the API asks about a session and starts nothing: its description, and whether its process lives.

import type { Asker } from "../attach/grant.ts";
import type { SessionListing } from "../attach/session-calls.ts";
import { describeSession, participantsOf } from "../records/session-listing.ts";
import type { SessionEnv, SessionParts } from "./session-parts.ts";

/** @param awake Wakes a parked session: its container may be gone, and attached clients are to hear of that. */
export async function describe(
  env: SessionEnv,
  { store, lifecycle, signer }: SessionParts,
  asker: Asker | undefined,
  awake: () => void,
): Promise<SessionListing | undefined> {
  const { record } = store;
  if (record === undefined) return undefined;
  const writerId = asker && signer.writerId(record.facts.incarnation, asker, "api");
  const { session } = lifecycle;
  if (lifecycle.parked === undefined || session === undefined) {
    return describeSession(env, record, session, writerId, () => lifecycle.foundLost(record));
  }
  // Those who are here when it is asked, whatever comes while the bridge is.
  const here = { clients: session.attachedCount, ...participantsOf(session) };
  return { ...(await describeSession(env, record, undefined, writerId, awake)), ...here };
}

export async function isAlive(env: SessionEnv, { store, lifecycle, attaching }: SessionParts): Promise<boolean> {
  const { record } = store;
  if (record === undefined) return attaching.isUnderWay;
  if (lifecycle.session !== undefined) return !lifecycle.session.hasEnded;
  return (await describeSession(env, record, undefined)).state === "running";
}
