// Output on its way to the readers of the log: directly connected clients, and inner hops. How much each is sent,
// how much an acknowledgement sets free, which screen is redrawn, and which client is given up because nothing moves.

import { LinkFlow, RatedFlow } from "../output/flow.ts";
import type { OutputLog } from "../output/output-log.ts";
import { type Ending, FrameSource, type OutputPeer, OutputReader } from "../output/output-reader.ts";
import type { SnapshotFrame, SnapshotRequests } from "../output/snapshot-requests.ts";
import { type OutputObserver, Window } from "../output/window.ts";
import { CLOSE, LOST_REASON, PLAIN_STALL_MS, STALL_MS } from "../wire/constants.ts";
import type { Role } from "../wire/terms.ts";
import type { ClientRecord, TerminalSize } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Peer } from "./presence.ts";
import type { Upstream } from "./session-types.ts";

/** How often something that waits for a rate, and not for an event, is looked at. */
const RATE_TICK_MS = 10;

/** The kind of client that a reader is made for. */
type Reading = { readonly acknowledges: boolean; readonly role: Role };

/** The calls of the output sender to its session. */
export interface OutputSenderPorts {
  readonly log: OutputLog;
  readonly clients: Clients;
  readonly snapshots: SnapshotRequests;
  readonly upstream: Upstream;
  readonly now: () => number;
  /** @see SessionOptions.reuseFrames */
  readonly reuseFrames: boolean;
  /** @see SessionOptions.plainBytesPerSecond */
  readonly plainBytesPerSecond: number | undefined;
  readonly observer: OutputObserver | undefined;
  /** How the process ended, where it has; for a client, where it may be told that now. */
  ending(client?: ClientRecord): Ending | undefined;
  /** Whether the process waits for a client. */
  isPaced(): boolean;
  vanish(client: ClientRecord, isSure?: boolean): void;
  /** Closes a client that breaks a rule. */
  refuse(client: ClientRecord, code: number, reason: string): void;
}

export class OutputSender {
  readonly #ports: OutputSenderPorts;
  readonly #frames: FrameSource;
  /** Readers that are no clients: inner hops. */
  readonly #links = new Set<OutputReader>();
  /** Output in the log behind this is read and sent on in a moment, with more: an acknowledgement does not cut it in two. */
  #announcedOffset: number;

  constructor(ports: OutputSenderPorts) {
    this.#ports = ports;
    this.#announcedOffset = ports.log.endOffset;
    this.#frames = new FrameSource(ports.log, ports.reuseFrames);
  }

  /** A reader for a client that starts at `offset`, or with a snapshot that stands there. */
  readerAt(offset: number, client: Reading, peer: Peer, screen?: TerminalSize): OutputReader {
    const flow = client.acknowledges
      ? new Window(offset, this.#ports.log.windowBytes, client.role, this.#ports.observer)
      : new RatedFlow(offset, this.#ports.now(), this.#ports.plainBytesPerSecond);
    return new OutputReader(this.#ports.log, this.#frames, offset, flow, peer, screen);
  }

  /** The client has been greeted: sends it its snapshot, if it starts with one, and the output that there is. */
  start(client: ClientRecord, reader: OutputReader, screen: SnapshotFrame | undefined, tty: boolean): void {
    this.goOn(client, reader, tty);
    if (screen !== undefined) reader.showScreen(screen);
    // Its place may have been another when upstream heard of it.
    this.#ports.upstream.acked(client);
    this.#pump(client, reader);
  }

  /** The client is sent the output that comes. */
  goOn(client: ClientRecord, reader: OutputReader, tty: boolean): void {
    if (tty) reader.askScreen = () => this.#redraw(client, reader);
  }

  /** @see SessionCore.appended */
  appended(): void {
    const now = this.#ports.now();
    this.#announcedOffset = this.#ports.log.endOffset;
    for (const link of this.#links) link.pump(now, this.#ports.ending(), this.#announcedOffset);
    for (const client of this.#ports.clients.all) {
      if (client.presence.phase === "greeted") this.#pump(client, client.presence.reader, now);
    }
  }

  /** A whole frame was appended at `offset`: it is passed on as it is where it fits. */
  keep(offset: number, frame: Uint8Array): void {
    this.#frames.keep(offset, frame);
  }

  /** @see ProcessSession.addLink */
  addLink(offset: number, peer: OutputPeer): OutputReader {
    const flow = new LinkFlow(offset, this.#ports.now(), this.#ports.isPaced);
    const reader = new OutputReader(this.#ports.log, this.#frames, offset, flow, peer);
    this.#links.add(reader);
    return reader;
  }

  /** Whether a reader that is no client gets all output. */
  get hasLinks(): boolean {
    return this.#links.size > 0;
  }

  removeLink(link: OutputReader): void {
    this.#links.delete(link);
  }

  /** The link's socket takes output again. */
  resumeLink(link: OutputReader): void {
    link.pump(this.#ports.now(), this.#ports.ending(), this.#announcedOffset);
  }

  /** The client may be sent output that it could not be sent before. */
  resume(client: ClientRecord): void {
    if (client.presence.phase === "greeted") this.#pump(client, client.presence.reader);
  }

  /** The client has dealt with everything before `offset`. */
  ack(client: ClientRecord, offset: number): boolean {
    client.isActive = true;
    if (client.presence.phase !== "greeted") return false;
    const { reader } = client.presence;
    if (offset > reader.cursor) {
      this.#ports.refuse(client, CLOSE.policy, `ack of ${offset} is beyond what was sent, ${reader.cursor}`);
      return false;
    }
    const now = this.#ports.now();
    // A window that has shrunk stays full for longer than its client takes to deal with something.
    if (offset > reader.flow.acked && reader.blockedSinceMs !== undefined) reader.blockedSinceMs = now;
    const isWeighty = reader.flow.ack(offset, now);
    this.#pump(client, reader, now);
    this.#ports.upstream.acked(client);
    return isWeighty;
  }

  /** When {@link tickLinks} is to be called; undefined while no link waits for its rate. */
  get nextLinkTickMs(): number | undefined {
    return this.#ratedLinks.length === 0 ? undefined : this.#ports.now() + RATE_TICK_MS;
  }

  tickLinks(now: number): void {
    for (const link of this.#ratedLinks) link.pump(now, this.#ports.ending(), this.#announcedOffset);
  }

  get #ratedLinks(): OutputReader[] {
    return [...this.#links].filter((link) => link.blockedSinceMs !== undefined && link.peer.isWritable());
  }

  /** When {@link tick} is to be called for this client; undefined while nothing of it waits for time to pass. */
  nextTickMs(client: ClientRecord): number | undefined {
    if (client.presence.phase !== "greeted" || client.presence.peer.isPaused === true) return undefined;
    const blockedSince = client.presence.reader.blockedSinceMs;
    if (blockedSince === undefined) return undefined;
    if (!client.acknowledges) return this.#ports.now() + RATE_TICK_MS;
    return client.delivery === "lossless" ? blockedSince + STALL_MS : undefined;
  }

  tick(client: ClientRecord, now: number): void {
    if (client.presence.phase !== "greeted" || client.presence.peer.isPaused === true) return;
    const { reader, peer } = client.presence;
    if (reader.blockedSinceMs === undefined) return;
    if (!client.acknowledges) {
      this.#pump(client, reader, now);
      if (now - (reader.blockedSinceMs ?? now) < PLAIN_STALL_MS) return;
      peer.bye(CLOSE.internal, "the client can't be written to", "now");
      this.#ports.vanish(client);
    } else if (client.delivery === "lossless" && reader.blockedSinceMs + STALL_MS <= now) {
      peer.bye(CLOSE.internal, "output was not acknowledged for too long", "now");
      this.#ports.vanish(client);
    }
  }

  /** A client fell so far behind that the log does not hold its next byte. */
  #redraw(client: ClientRecord, reader: OutputReader): void {
    this.#ports.snapshots.await((screen) => {
      if (client.greeted?.reader !== reader) return;
      // Stopped again meanwhile: it asks anew when it may be written to.
      if (!reader.peer.isWritable()) reader.waiveScreen();
      else if (screen === undefined) reader.skipToTail();
      else reader.showScreen(screen);
      this.#pump(client, reader);
    }, true);
  }

  #pump(client: ClientRecord, reader: OutputReader, now = this.#ports.now()): void {
    const { acked } = reader.flow;
    const ending = this.#ports.ending(client);
    const hasExited = reader.pump(now, ending, this.#announcedOffset);
    // A client that can't acknowledge has dealt with all that its socket took. Only this call says so upstream.
    if (!client.acknowledges && reader.flow.acked !== acked) this.#ports.upstream.acked(client);
    if (!hasExited) return;
    if (ending === "lost") client.peer?.bye(CLOSE.notFound, LOST_REASON, "never");
    else client.peer?.finish();
    // It has all, as far as is known: others may have its place, and it may still come back for bytes that got lost.
    this.#ports.vanish(client, true);
  }
}
