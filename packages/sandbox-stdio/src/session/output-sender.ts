// Sends output to the readers of the log: directly connected clients and inner hops. Decides how much each gets, what an
// acknowledgement frees, which screen is redrawn, and which client is given up as stalled.

import { LinkFlow, RatedFlow } from "../output/flow.ts";
import { type Ending, type OutputPeer, OutputReader } from "../output/output-reader.ts";
import type { SnapshotFrame } from "../output/snapshot-requests.ts";
import { Window } from "../output/window.ts";
import { CLOSE, LOST_REASON, PLAIN_STALL_MS, STALL_MS } from "../wire/constants.ts";
import type { Role } from "../wire/terms.ts";
import { finish, refuse, vanish } from "./attendance.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { Peer } from "./presence.ts";
import type { SessionState } from "./session-state.ts";

/** How often a reader limited by a rate is pumped. */
const RATE_TICK_MS = 10;

/** The properties of a client that its reader depends on. */
type Reading = { readonly acknowledges: boolean; readonly role: Role };

/** A reader for a client that starts at `start` or with a snapshot there, and has `inFlight` earlier bytes yet to acknowledge. */
export function readerAt(
  session: SessionState,
  { start, inFlight }: { readonly start: number; readonly inFlight: number },
  client: Reading,
  peer: Peer,
  screen?: TerminalSize,
): OutputReader {
  const { log, frames, observer, now, plainBytesPerSecond } = session;
  const flow = client.acknowledges
    ? new Window(start - inFlight, log.windowBytes, client.role, observer, inFlight)
    : new RatedFlow(start, now(), plainBytesPerSecond);
  return new OutputReader(log, frames, start, flow, peer, screen);
}

/** Sends a client that was just greeted its snapshot, if any, and the available output. */
export function startOutput(
  session: SessionState,
  client: ClientRecord,
  reader: OutputReader,
  screen: SnapshotFrame | undefined,
): void {
  followOutput(session, client, reader);
  if (screen !== undefined) reader.showScreen(screen);
  // The client was announced upstream with another offset if a snapshot came since.
  session.upstream.acked(client);
  pump(session, client, reader);
}

/** Subscribes the client to further output. */
export function followOutput(session: SessionState, client: ClientRecord, reader: OutputReader): void {
  if (session.facts.tty) reader.askScreen = () => redraw(session, client, reader);
}

/** Sends bytes that were committed to the log. */
export function sendAppended(session: SessionState): void {
  const now = session.now();
  session.announcedOffset = session.log.endOffset;
  for (const link of session.links) link.pump(now, session.ending, session.announcedOffset);
  for (const client of session.clients.all) {
    if (client.presence.phase === "greeted") pump(session, client, client.presence.reader, now);
  }
}

/** A reader that gets all output from `offset` on, even if no client acknowledges. */
export function addLink(session: SessionState, offset: number, peer: OutputPeer): OutputReader {
  const { log, frames, now, pace, links } = session;
  const flow = new LinkFlow(offset, now(), () => pace.isPaced);
  const reader = new OutputReader(log, frames, offset, flow, peer);
  links.add(reader);
  return reader;
}

/** The link's socket is writable again. */
export function resumeLink({ now, ending, announcedOffset }: SessionState, link: OutputReader): void {
  link.pump(now(), ending, announcedOffset);
}

/** Output that was withheld from the client may be sent now. */
export function resumeOutput(session: SessionState, client: ClientRecord): void {
  if (client.presence.phase === "greeted") pump(session, client, client.presence.reader);
}

/** The client has processed everything before `offset`. @returns Whether this frees 16 KiB or more, or a snapshot. */
export function acknowledge(session: SessionState, client: ClientRecord, offset: number): boolean {
  client.isActive = true;
  if (client.presence.phase !== "greeted") return false;
  const { reader } = client.presence;
  if (offset > reader.cursor) {
    refuse(session, client, CLOSE.policy, `ack of ${offset} is beyond what was sent, ${reader.cursor}`);
    return false;
  }
  const now = session.now();
  // A window that has shrunk stays full even though its client makes progress.
  if (offset > reader.flow.acked && reader.blockedSinceMs !== undefined) reader.blockedSinceMs = now;
  const isWeighty = reader.flow.ack(offset, now);
  pump(session, client, reader, now);
  session.upstream.acked(client);
  return isWeighty;
}

/** When {@link tickLinks} is due; undefined if no link waits for its rate. */
export function linkTickMs(session: SessionState): number | undefined {
  return ratedLinks(session).length === 0 ? undefined : session.now() + RATE_TICK_MS;
}

export function tickLinks(session: SessionState, now: number): void {
  for (const link of ratedLinks(session)) link.pump(now, session.ending, session.announcedOffset);
}

function ratedLinks({ links }: SessionState): OutputReader[] {
  return [...links].filter((link) => link.blockedSinceMs !== undefined && link.peer.isWritable());
}

/** When {@link tickOutput} is due for this client; undefined if none of its output waits for time to pass. */
export function outputTickMs({ now }: SessionState, client: ClientRecord): number | undefined {
  if (client.presence.phase !== "greeted" || client.presence.peer.isPaused === true) return undefined;
  const blockedSince = client.presence.reader.blockedSinceMs;
  if (blockedSince === undefined) return undefined;
  if (!client.acknowledges) return now() + RATE_TICK_MS;
  return client.delivery === "lossless" ? blockedSince + STALL_MS : undefined;
}

export function tickOutput(session: SessionState, client: ClientRecord, now: number): void {
  if (client.presence.phase !== "greeted" || client.presence.peer.isPaused === true) return;
  const { reader, peer } = client.presence;
  if (reader.blockedSinceMs === undefined) return;
  if (!client.acknowledges) {
    pump(session, client, reader, now);
    if (now - (reader.blockedSinceMs ?? now) < PLAIN_STALL_MS) return;
    peer.bye(CLOSE.internal, "the client can't be written to", "now");
    vanish(session, client);
  } else if (client.delivery === "lossless" && reader.blockedSinceMs + STALL_MS <= now) {
    peer.bye(CLOSE.internal, "output was not acknowledged for too long", "now");
    vanish(session, client);
  }
}

/** The log no longer holds the client's next byte. */
function redraw(session: SessionState, client: ClientRecord, reader: OutputReader): void {
  session.snapshots.await((screen) => {
    if (client.greeted?.reader !== reader) return;
    // Blocked again meanwhile: the reader asks once more when it is writable.
    if (!reader.peer.isWritable()) reader.waiveScreen();
    else if (screen === undefined) reader.skipToTail();
    else reader.showScreen(screen);
    pump(session, client, reader);
  }, true);
}

function pump(session: SessionState, client: ClientRecord, reader: OutputReader, now = session.now()): void {
  const { acked } = reader.flow;
  const ending = endingFor(session, client);
  const hasExited = reader.pump(now, ending, session.announcedOffset);
  // A client that can't acknowledge has processed what its socket took; only this reports it upstream.
  if (!client.acknowledges && reader.flow.acked !== acked) session.upstream.acked(client);
  if (!hasExited) return;
  if (ending === "lost") client.peer?.bye(CLOSE.notFound, LOST_REASON, "never");
  else client.peer?.finish();
  finish(session, client);
}

/** How the process ended, if this client may be told now. Acknowledgements of its input come first (I10). */
function endingFor({ ending, recorder }: SessionState, client: ClientRecord): Ending | undefined {
  return client.acknowledges && recorder?.isBehind(client.id) === true ? undefined : ending;
}
