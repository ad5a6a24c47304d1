// Parks a quiet session while its clients stay: stores its state, releases the inner hop, and restores the session when something
// happens. The core decides when it may be parked, and which state is stored (parking.ts there).

import {
  CLOSE,
  earliest,
  parkedClientOf,
  parkedSessionOf,
  QuietWatch,
  type RelaySession,
  type ServerConnection,
  unpark,
  unparkClient,
  whyAwake,
} from "sandbox-stdio/core";
import type { Limits } from "../limits/limits.ts";
import type { PendingWaits } from "../programs/pending-waits.ts";
import type { Watches } from "../sockets/watches.ts";
import type { Connections, Kept, Survivor } from "./connections.ts";
import type { SessionLifecycle } from "./lifecycle.ts";
import type { Parked } from "./process-state.ts";
import type { Renewals } from "./renewals.ts";

const KEY = "parked";
/** How long before its end people are told. */
const WARNING_MS = 60_000;

export interface ParkingPorts {
  readonly kv: SyncKvStorage;
  readonly limits: Limits;
  /** This object's own name: the bridge calls it by that. */
  readonly sessionKey: string;
  readonly lifecycle: SessionLifecycle;
  readonly connections: Connections;
  readonly watches: Watches;
  readonly renewals: Renewals;
  /** Pending waits sleep with the session. */
  readonly waits: PendingWaits;
  /** Whether anything else needs this object in memory. */
  isBusy(): boolean;
  /** Runs without other events being delivered meanwhile. */
  alone(run: () => Promise<void>): Promise<void>;
  /** The next due time has changed. */
  changed(): void;
  alarm(): void;
  /** Reports the counts, since a sleeping object has no timer for it. */
  report(): void;
}

export class Parking {
  readonly #ports: ParkingPorts;
  readonly #quiet: QuietWatch;

  constructor(ports: ParkingPorts) {
    this.#ports = ports;
    this.#quiet = new QuietWatch(ports.limits.parkSeconds * 1000);
  }

  get #parked(): Parked | undefined {
    return this.#ports.lifecycle.parked;
  }

  /** When the alarm rings while the session is parked, as Date.now(); infinity for never. */
  get dueMs(): number {
    if (this.#parked === undefined) return Number.POSITIVE_INFINITY;
    const { untilMs, isWarned } = this.#parked;
    return earliest([this.#ports.watches.nextEndMs, isWarned ? untilMs : untilMs - WARNING_MS]);
  }

  // ---- Going to sleep ------------------------------------------------------------------------------------------

  /** When to check again whether the session may be parked; infinity for never. */
  nextTickMs(nowMs: number): number {
    const { lifecycle, connections, waits } = this.#ports;
    const { state, hop } = lifecycle;
    if (state.at !== "running") return Number.POSITIVE_INFINITY;
    const { session } = state;
    const isNeeded = session.isAttended || waits.count > 0;
    if (!isNeeded || !hop.client.callsParked || !hop.isOpen) return Number.POSITIVE_INFINITY;
    return this.#quiet.look(`${session.log.endOffset} ${connections.counts} ${waits.counts}`, nowMs);
  }

  /** Asks the bridge to keep the clients' places, if that is due. */
  tick(nowMs: number): void {
    if (this.nextTickMs(nowMs) > nowMs) return;
    this.#quiet.postpone(nowMs);
    const { lifecycle, limits, sessionKey, waits } = this.#ports;
    const { session, hop } = lifecycle;
    if (session === undefined || this.#whyAwake(session, nowMs) !== undefined) return;
    const offset = session.log.endOffset;
    // Without clients, the process is needed until the last wait ends.
    const neededMs = session.isAttended ? limits.parkHours * 3_600_000 : waits.untilMs - nowMs;
    hop.client.park({ offset, seconds: Math.max(1, Math.ceil(neededMs / 1000)), after: 0, bell: sessionKey });
  }

  /** The bridge keeps the clients' places and has received nothing since it was asked to. */
  answered(nowMs: number): void {
    const { lifecycle, kv, limits, connections, waits } = this.#ports;
    const { session } = lifecycle;
    if (session === undefined || this.#whyAwake(session, nowMs) !== undefined) return;
    const epoch = crypto.randomUUID();
    const kept = this.#toKeep(session, epoch);
    if (kept === undefined || !connections.keep(kept) || !waits.keep()) return;
    const untilMs = nowMs + limits.parkHours * 3_600_000;
    lifecycle.park(session, { epoch, session: parkedSessionOf(session), untilMs, isWarned: false });
    kv.put(KEY, lifecycle.parked);
    this.#ports.report();
    this.#ports.alarm();
    this.#ports.changed();
  }

  #whyAwake(session: RelaySession, nowMs: number): string | undefined {
    const { lifecycle, connections, waits, isBusy } = this.#ports;
    if (isBusy()) return "something else is under way";
    const attached = [...connections.all].every(
      ({ client }) => client !== undefined && session.client(client.id) === client,
    );
    if (!attached || connections.toKeep() === undefined) return "a connection is in the middle of something";
    return lifecycle.looks.isDone(session, nowMs)
      ? whyAwake(session, nowMs, waits.count > 0)
      : "the last screen is on its way";
  }

  #toKeep(session: RelaySession, epoch: string) {
    const kept = new Map<ServerConnection, Kept>();
    for (const [connection, own] of this.#ports.connections.toKeep() ?? []) {
      const { client } = connection;
      const greeted = client === undefined ? undefined : session.client(client.id)?.greeted;
      if (client === undefined || greeted?.peer !== connection) return undefined;
      kept.set(connection, { ...own, epoch, client: parkedClientOf(client, greeted) });
    }
    return kept;
  }

  // ---- Coming back ---------------------------------------------------------------------------------------------

  /** Call once, after construction: an earlier instance of this object may have parked the session. */
  restore(): void {
    const { kv, lifecycle, connections, waits } = this.#ports;
    const stored = kv.get<Parked>(KEY);
    const survivors = connections.survivors(stored?.epoch);
    if (stored === undefined) return;
    const isNeeded = survivors.length > 0 || waits.count > 0;
    const session = isNeeded ? lifecycle.unpark(stored.session) : undefined;
    if (session === undefined) {
      kv.delete(KEY);
      return;
    }
    const revived = survivors.map((survivor) => this.#revive(survivor, stored, session));
    unpark(session, stored.session, revived);
    for (const [{ id }, connection] of revived) wentOn(session, connection, id);
    lifecycle.parked = stored;
  }

  #revive(survivor: Survivor, { session: parked }: Parked, { facts }: RelaySession) {
    const connection = this.#ports.connections.revive(survivor);
    const { client, connection: kept } = survivor.kept;
    const { end: offset, answerer } = parked;
    connection.resume(kept, { tty: facts.tty, offset, me: client.id, answerer });
    return [client, connection] as const;
  }

  /** The runtime does not list a closing socket: restores its client until the close has been handled. */
  #reviveLate(socket: WebSocket): void {
    const { state } = this.#ports.lifecycle;
    if (state.at !== "parked") return;
    const { parked, session } = state;
    const survivor = this.#ports.connections.survivor(socket, parked.epoch);
    if (survivor === undefined || session.client(survivor.kept.client.id) !== undefined) return;
    const [client, connection] = this.#revive(survivor, parked, session);
    unparkClient(session, client, parked.session.end, connection);
    wentOn(session, connection, client.id);
  }

  /**
   * Handles an event: at once, or after asking the issuer if a parked client's token is due for another check.
   * @param socket The event's socket.
   */
  awake(event: () => void, socket?: WebSocket): void | Promise<void> {
    const { watches, renewals, waits, alone, changed } = this.#ports;
    if (this.#parked === undefined) {
      event();
      waits.goOn();
      return;
    }
    if (socket !== undefined) this.#reviveLate(socket);
    // First of all: a later instance must never continue from this stored state again.
    this.#ports.lifecycle.parked = undefined;
    this.#ports.kv.delete(KEY);
    const nowMs = Date.now();
    const goOn = () => {
      event();
      waits.goOn();
      changed();
    };
    if (!watches.lifetimes.isStale(nowMs)) return goOn();
    return alone(async () => {
      await renewals.askIssuers(nowMs);
      goOn();
    });
  }

  /** The alarm has rung. */
  ring(nowMs: number): void | Promise<void> {
    const parked = this.#parked;
    if (parked === undefined || this.dueMs > nowMs) return;
    const { kv, connections, limits, lifecycle } = this.#ports;
    if (parked.untilMs <= nowMs) {
      return this.awake(() => {
        const reason = `nobody has said anything for ${limits.parkHours} h`;
        for (const connection of [...connections.all]) connection.dismiss(CLOSE.idle, reason, "never", "vanished");
      });
    }
    if (parked.isWarned || parked.untilMs - WARNING_MS > nowMs) return this.awake(() => undefined);
    lifecycle.parked = { ...parked, isWarned: true };
    kv.put(KEY, lifecycle.parked);
    const message = `nobody has said anything for ${limits.parkHours} h: in ${WARNING_MS / 1000} s this is closed`;
    for (const connection of connections.all) connection.send({ type: "error", code: "idle", message });
  }
}

function wentOn(session: RelaySession, connection: ServerConnection, id: string): void {
  const client = session.client(id);
  if (client !== undefined) connection.resumed(session, client);
}
