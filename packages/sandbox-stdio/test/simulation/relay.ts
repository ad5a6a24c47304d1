// The simulation's Durable Object: the shell around the relay session that the real one has in worker/src. It can be
// dropped at any moment and made again with nothing but what the bridge and the clients tell it.

import {
  type AttachRequest,
  backoffMs,
  CLOSE,
  defined,
  type ExitStatus,
  InnerClient,
  type InnerHello,
  OutputLog,
  type ParkedClient,
  type ParkedConnection,
  type ParkedSession,
  PING_INTERVAL_MS,
  PING_TEXT,
  PONG_TEXT,
  parkedClientOf,
  parkedSessionOf,
  QuietWatch,
  RelaySession,
  type ServerConnection,
  type SessionFacts,
  type SessionOptions,
  type Snapshot,
  unpark,
  unparkedOptions,
  whyAwake,
} from "../../src/index.ts";
import type { SimBridge } from "./bridge.ts";
import { type Chance, Connection, type LinkProfile, type Listener, type Socket } from "./network.ts";
import { type RecordedInput, SimRecorder } from "./recorder.ts";

export type RelayPorts = {
  readonly world: Chance;
  readonly bridge: SimBridge;
  readonly profile: LinkProfile;
  readonly logBytes: number;
  readonly store: Store;
  readonly facts: SessionFacts;
  /** After so long without anything it is parked; absent: never. */
  readonly parkMs?: number | undefined;
  /** It sleeps: what happens next finds it, or another life of it. */
  parked(relay: SimRelay): void;
  /** Called after every turn: a place to check what must always hold. */
  check(relay: SimRelay): void;
};

/** What outlives a Durable Object: how the process ended, and the record of input, where one is kept. */
export type Store = {
  log?: OutputLog;
  exit?: ExitStatus;
  lastScreen?: Snapshot;
  readonly recorded?: RecordedInput;
  /** While it sleeps. */
  parked?: { readonly session: ParkedSession; readonly clients: readonly ParkedSocket[] } | undefined;
};

/** A client's socket outlives the object that sleeps, with what was written down of its client. */
type ParkedSocket = {
  readonly socket: Socket;
  readonly revive: Revive;
  readonly client: ParkedClient;
  readonly connection: ParkedConnection;
};

/** Makes another connection on a socket that outlived an earlier life of the relay. */
export type Revive = (relay: SimRelay) => ServerConnection;

type Waiting = { readonly connection: ServerConnection; readonly request: AttachRequest };

export class SimRelay {
  readonly #ports: RelayPorts;
  readonly inner: InnerClient;
  readonly recorder: SimRecorder | undefined;
  session: RelaySession | undefined;
  isDropped = false;
  readonly sockets = new Map<ServerConnection, Socket>();
  readonly #revives = new Map<ServerConnection, Revive>();
  /** Whether it sleeps: it has no timer and no connection to the bridge. */
  isParked = false;
  #isParking = false;
  readonly #quiet: QuietWatch;
  #heard = 0;
  #waiting: Waiting[] = [];
  #link: Connection | undefined;
  #linkSocket: Socket | undefined;
  #isConnecting = false;
  #attempt = 0;
  #nextPing = 0;
  #cancel: () => void = () => undefined;
  #tickAt = Number.POSITIVE_INFINITY;

  constructor(ports: RelayPorts) {
    this.#ports = ports;
    this.inner = new InnerClient({
      hello: (hello) => this.#greeted(hello),
      bye: () => this.#innerClosed(),
      parked: () => this.#park(),
      clientBye: (client, code, reason) => {
        client.peer?.bye(code, reason, "never");
        this.session?.leave(client);
      },
    });
    const { log, exit, recorded } = ports.store;
    if (recorded !== undefined) {
      this.recorder = new SimRecorder(ports.world, recorded, (id) => {
        if (this.isDropped) return;
        this.session?.recorded(id);
        this.#changed();
      });
    }
    this.#quiet = new QuietWatch(ports.parkMs ?? Number.POSITIVE_INFINITY);
    if (ports.store.parked !== undefined) this.#unpark(ports.store.parked);
    if (log === undefined || exit === undefined) return;
    this.session = this.#makeSession({ log, holder: "", creator: "" });
    this.session.exited(exit);
  }

  get isConnected(): boolean {
    return this.inner.isReady;
  }

  // ---- Clients -------------------------------------------------------------------------------------------------

  /** A WebSocket has been accepted. */
  accept(connection: ServerConnection, socket: Socket, request: AttachRequest, revive: Revive): void {
    this.#wake();
    this.sockets.set(connection, socket);
    this.#revives.set(connection, revive);
    if (this.session === undefined) {
      this.#waiting.push({ connection, request });
      if (this.#link === undefined) this.#connectInner();
    } else connection.attach(this.session, request);
    this.#changed();
  }

  listener(connection: ServerConnection): Listener {
    return {
      receive: (frame) => {
        if (this.isDropped) return;
        const { now } = this.#ports.world.time;
        // Answered without waking the object.
        if (this.isParked && frame === PING_TEXT) {
          connection.heardAtMs = now;
          this.sockets.get(connection)?.send(PONG_TEXT);
          return;
        }
        this.#wake();
        if (frame !== PING_TEXT) this.#heard += 1;
        connection.receive(frame, now);
        this.#changed();
      },
      closed: (code) => {
        if (this.isDropped) return;
        this.#wake();
        this.sockets.delete(connection);
        this.#revives.delete(connection);
        this.#waiting = this.#waiting.filter((waiting) => waiting.connection !== connection);
        connection.closed(code);
        this.#changed();
      },
    };
  }

  // ---- Parking -------------------------------------------------------------------------------------------------

  /** The bridge calls. */
  called(): void {
    if (this.isDropped || !this.isParked) return;
    this.#wake();
    this.#changed();
  }

  /** The runtime takes its memory; its sockets and what is stored stay. */
  evict(): void {
    if (!this.isParked) throw new Error("evicted while awake");
    this.isDropped = true;
    this.recorder?.drop();
  }

  #wake(): void {
    if (!this.isParked) return;
    this.isParked = false;
    this.#ports.store.parked = undefined;
    this.#connectInner();
  }

  get #isQuiet(): boolean {
    const { session } = this;
    const isAlone = session === undefined || this.#waiting.length > 0 || !this.isConnected;
    if (isAlone || session.presentCount !== this.sockets.size) return false;
    if (this.recorder?.isIdle === false) return false;
    if ([...this.sockets.keys()].some((connection) => connection.parked === undefined)) return false;
    return whyAwake(session, this.#ports.world.time.now) === undefined;
  }

  /** @returns When it is to be parked, if nothing happens. */
  #lookAtQuiet(): number {
    const { now } = this.#ports.world.time;
    const { session } = this;
    if (session === undefined || this.#ports.parkMs === undefined || this.#link === undefined)
      return Number.POSITIVE_INFINITY;
    const due = this.#quiet.look(`${session.log.endOffset} ${this.#heard} ${this.sockets.size}`, now);
    if (due > now) return due;
    this.#quiet.postpone(now);
    if (this.#isQuiet && !this.#isParking) {
      this.#isParking = true;
      this.inner.park({ offset: session.log.endOffset, seconds: 3_600, after: 0, bell: "session" });
    }
    return now + this.#ports.parkMs;
  }

  /** The bridge keeps the clients' places. */
  #park(): void {
    this.#isParking = false;
    const { session } = this;
    if (session === undefined || !this.#isQuiet) return;
    const clients = [...this.sockets].map(([connection, socket]): ParkedSocket => {
      const { client, parked } = connection;
      const revive = this.#revives.get(connection);
      if (client?.greeted === undefined || parked === undefined || revive === undefined) throw new Error("not at rest");
      return {
        socket,
        revive,
        ...structuredClone({ client: parkedClientOf(client, client.greeted), connection: parked }),
      };
    });
    this.#ports.store.parked = { session: structuredClone(parkedSessionOf(session)), clients };
    this.#release();
    this.isParked = true;
    this.#cancel();
    this.#tickAt = Number.POSITIVE_INFINITY;
    this.#ports.parked(this);
  }

  #unpark({ session: parked, clients }: NonNullable<Store["parked"]>): void {
    this.isParked = true;
    const session = this.#makeSession(unparkedOptions({ ...parked }, this.#ports.logBytes));
    this.session = session;
    const peers = clients.map(({ socket, revive, client, connection: kept }) => {
      const connection = revive(this);
      this.sockets.set(connection, socket);
      this.#revives.set(connection, revive);
      const { id: me } = client;
      const { answerer, end: offset } = parked;
      connection.resume(kept, { tty: session.facts.tty, offset, me, answerer });
      return [client, connection] as const;
    });
    unpark(session, parked, peers);
    for (const [{ id }, connection] of peers) {
      const client = session.client(id);
      if (client !== undefined) connection.resumed(session, client);
    }
  }

  /** The Durable Object dies: nothing of it is left. Its clients hear 1006, or of a restart, or nothing. */
  drop(): void {
    this.isDropped = true;
    // With its sockets goes what was written down of them.
    this.#ports.store.parked = undefined;
    this.recorder?.drop();
    this.#cancel();
    const { random } = this.#ports.world;
    for (const [connection, socket] of this.sockets) {
      if (random.chance(0.3)) connection.bye(CLOSE.restart, "restarted", "now");
      else socket.abort();
    }
    this.#linkSocket?.abort();
  }

  // ---- The inner hop -------------------------------------------------------------------------------------------

  /** The connection to the bridge, if there is one. */
  get link(): Connection | undefined {
    return this.#link;
  }

  #connectInner(): void {
    if (this.isDropped || this.#isConnecting) return;
    const { world, bridge, profile } = this.#ports;
    this.#isConnecting = true;
    world.time.after(profile.latencyMs * 2, () => {
      this.#isConnecting = false;
      if (this.isDropped) return;
      const asked = this.session?.log.endOffset;
      const end = bridge.openInner(() => link.b, asked);
      const isCurrent = () => !this.isDropped && this.#link === link;
      const link: Connection = new Connection(
        world,
        profile,
        {
          owner: "relay",
          receive: (frame) => {
            if (!isCurrent()) return;
            this.inner.receive(frame, world.time.now);
            this.#changed();
          },
          closed: () => {
            if (isCurrent()) this.#innerClosed();
          },
        },
        end.listener,
      );
      this.#link = link;
      this.#linkSocket = link.a;
      this.#nextPing = world.time.now + PING_INTERVAL_MS;
      this.inner.opened({ send: (frame) => link.a.send(frame) }, world.time.now);
      end.open();
      this.#changed();
    });
  }

  #greeted(hello: InnerHello): void {
    this.#attempt = 0;
    if (this.session === undefined) {
      const log = new OutputLog({ cols: hello.cols, rows: hello.rows }, this.#ports.logBytes, hello.offset);
      this.session = this.#makeSession({ log, holder: hello.holder, creator: hello.creator });
    }
    this.inner.ready(this.session, hello);
    for (const { connection, request } of this.#waiting) connection.attach(this.session, request);
    this.#waiting = [];
  }

  #makeSession(begun: Pick<SessionOptions, "log" | "holder" | "creator" | "hasBeenHeld">): RelaySession {
    const { lastScreen } = this.#ports.store;
    return new RelaySession({
      ...begun,
      facts: this.#ports.facts,
      upstream: this.inner,
      now: () => this.#ports.world.time.now,
      reuseFrames: false,
      screen: this.inner,
      ...defined({ lastScreen }),
      recorder: this.recorder,
    });
  }

  #release(): void {
    const socket = this.#linkSocket;
    this.#link = undefined;
    this.#linkSocket = undefined;
    this.inner.closed();
    socket?.close(CLOSE.normal);
  }

  #innerClosed(): void {
    this.#isParking = false;
    this.#link = undefined;
    this.#linkSocket?.abort();
    this.#linkSocket = undefined;
    this.inner.closed();
    const isNeeded = this.#waiting.length > 0 || (this.session?.presentCount ?? 0) > 0;
    if (!isNeeded || this.session?.exit !== undefined) return;
    const ms = this.#attempt === 0 ? 0 : backoffMs(this.#attempt, this.#ports.world.random.next());
    this.#attempt += 1;
    this.#ports.world.time.after(ms, () => {
      const isWanted = this.session !== undefined ? this.session.exit === undefined : this.#waiting.length > 0;
      if (this.#link === undefined && isWanted) this.#connectInner();
    });
    this.#changed();
  }

  // ---- Time ----------------------------------------------------------------------------------------------------

  #changed(): void {
    if (this.isDropped || this.isParked) return;
    this.#ports.check(this);
    this.#settle();
    const quietUntil = this.#lookAtQuiet();
    const { time, random } = this.#ports.world;
    let next = Math.min(quietUntil, this.session?.nextTickMs ?? quietUntil);
    for (const connection of this.sockets.keys()) next = Math.min(next, connection.silentAtMs ?? next);
    if (this.#link !== undefined) next = Math.min(next, this.#nextPing, this.inner.silentAtMs);
    if (next >= this.#tickAt) return;
    this.#cancel();
    this.#tickAt = next;
    this.#cancel = time.after(next - time.now + (random.chance(0.1) ? random.next() * 5 : 0), () => this.#tick());
  }

  /** What the process left behind is stored once; with nobody there the bridge is let go of. */
  #settle(): void {
    const { session } = this;
    const { store } = this.#ports;
    if (session === undefined) return;
    if (session.exit !== undefined) {
      if (store.exit !== undefined || !session.isSettled) return;
      if (session.lastScreen !== undefined) store.lastScreen = session.lastScreen;
      store.exit = session.exit;
      store.log = session.log;
      this.#release();
    } else if (session.presentCount === 0 && this.#waiting.length === 0) {
      this.session = undefined;
      this.#release();
    }
  }

  #tick(): void {
    this.#tickAt = Number.POSITIVE_INFINITY;
    const { now } = this.#ports.world.time;
    for (const connection of [...this.sockets.keys()]) {
      if ((connection.silentAtMs ?? Number.POSITIVE_INFINITY) <= now) connection.drop();
    }
    if (this.#link !== undefined) {
      if (this.inner.silentAtMs <= now) this.#innerClosed();
      else if (this.#nextPing <= now) {
        this.#nextPing = now + PING_INTERVAL_MS;
        this.inner.ping();
      }
    }
    this.session?.tick();
    this.#changed();
  }
}
