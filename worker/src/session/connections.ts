// The clients' connections to one session object: accepts them, reads them, times them out, and removes them when sockets end.

import {
  type Begin,
  CLOSE,
  type ConnectionHooks,
  clipUtf8,
  type Dialect,
  defined,
  dialectNamed,
  type ParkedClient,
  type ParkedConnection,
  PING_TEXT,
  PONG_TEXT,
  ServerConnection,
} from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import { CODEX } from "../attach/codex-spec.ts";
import type { Pass } from "../attach/entry-limits.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { log } from "../base/log.ts";
import type { Limits } from "../limits/limits.ts";
import type { Counts } from "../metrics/counts.ts";
import { WAIT_TAG } from "../programs/wait-socket.ts";
import { type Refusal, sayBye, upgradeHeaders } from "../refusal/refusal.ts";
import { answersPings, ClientSockets, quietly, type SocketEvents } from "../sockets/client-sockets.ts";
import { sharedPool } from "../sockets/unacknowledged.ts";
import type { KeptWatch, Watches } from "../sockets/watches.ts";
import type { SessionTrace } from "./session-trace.ts";

// ---- What is stored with a client's socket while its session is parked --------------------------------------------------

/** The parts of an upgrade that are needed after its client has attached. */
export type KeptSpec = Pick<AttachSpec, "dialect" | "who" | "actor" | "pass" | "limits"> & {
  readonly query: Pick<AttachSpec["query"], "role">;
};

export type Kept = {
  /** Identifies the parking; state from an earlier one is ignored. */
  readonly epoch: string;
  readonly spec: KeptSpec;
  readonly watch: KeptWatch;
  readonly client: ParkedClient;
  readonly connection: ParkedConnection;
};

export type Survivor = { readonly socket: WebSocket; readonly kept: Kept };

/** Sockets of waits, and of codex' clients. */
const KEPT_BY_OTHERS: readonly (string | undefined)[] = [WAIT_TAG, CODEX];

/** The refusal for a client whose session object died or lost its session. The client may reconnect at once. */
export const RESTARTED: Refusal = { code: CLOSE.restart, error: "restarted", message: "restarted" };

export interface ConnectionsPorts {
  readonly limits: Limits;
  readonly watches: Watches;
  readonly trace: SessionTrace;
  readonly counts: Counts;
  /** How long the session has run. */
  sessionMs(): number;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  /** A client has shown a fresh token. */
  auth(connection: ServerConnection, token: string): void;
  /** A client has sent a message and stays attached. */
  heard(): void;
  /** An attached client has closed its connection, or lost it. */
  closedByClient(): void;
  /** A connection with this pass has ended. */
  ended(pass: Pass): void;
  /** The set of clients may have changed. */
  changed(): void;
}

export class Connections implements SocketEvents {
  readonly #ctx: DurableObjectState;
  readonly #ports: ConnectionsPorts;
  readonly #sockets: ClientSockets;
  readonly #connections = new Map<WebSocket, ServerConnection>();
  readonly #specs = new WeakMap<ServerConnection, KeptSpec>();
  #messages = 0;

  constructor(ctx: DurableObjectState, ports: ConnectionsPorts) {
    this.#ctx = ctx;
    this.#ports = ports;
    this.#sockets = new ClientSockets(ctx, sharedPool(ports.limits.unacknowledgedBytes), ports.counts);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING_TEXT, PONG_TEXT));
  }

  // ---- Sockets that outlive this object ------------------------------------------------------------------------

  /**
   * The stored state of each client whose socket survived the eviction of this object while the session was parked.
   * Every other socket is told `bye` 1012: none of its input is held here (H7).
   * @param epoch Which parking counts; undefined: none.
   */
  survivors(epoch: string | undefined): Survivor[] {
    const survivors: Survivor[] = [];
    for (const socket of this.#ctx.getWebSockets()) {
      if (KEPT_BY_OTHERS.includes(this.#ctx.getTags(socket)[0])) continue;
      const kept = epoch === undefined ? undefined : keptWith(socket, epoch);
      if (kept !== undefined) survivors.push({ socket, kept });
      else quietly(() => sayBye(socket, this.#ctx.getTags(socket)[0] ?? "plain", RESTARTED));
    }
    return survivors;
  }

  /** The kept state of this one client, unless it is here. */
  survivor(socket: WebSocket, epoch: string): Survivor | undefined {
    const kept = this.#connections.has(socket) ? undefined : keptWith(socket, epoch);
    return kept && { socket, kept };
  }

  /** Attaches the client again on its old socket. */
  revive({ socket, kept }: Survivor): ServerConnection {
    this.#sockets.revived(socket);
    const connection = this.#connect(socket, kept.spec, kept.watch);
    this.#ports.audit?.admitted(connection, kept.client.id, kept.spec.actor);
    return connection;
  }

  /** The state of every connection, for parking; undefined if one is in the middle of something. */
  toKeep(): Map<ServerConnection, Pick<Kept, "spec" | "watch" | "connection">> | undefined {
    const all = new Map<ServerConnection, Pick<Kept, "spec" | "watch" | "connection">>();
    for (const [socket, connection] of this.#connections) {
      const { parked } = connection;
      const spec = this.#specs.get(connection);
      const life = this.#ports.watches.lifetimes.get(connection);
      if (parked === undefined || spec === undefined || life === undefined || this.#sockets.isOwn(socket))
        return undefined;
      const watch = this.#ports.watches.keptOf(connection);
      all.set(connection, { spec: { ...spec, who: life.grant }, watch, connection: parked });
    }
    return all;
  }

  /** Stores the state of each client with its socket. @returns Whether all of it fits. */
  keep(kept: ReadonlyMap<ServerConnection, Kept>): boolean {
    for (const [socket, connection] of this.#connections) {
      try {
        socket.serializeAttachment(kept.get(connection));
      } catch (error) {
        log.warn("a session can't be parked: a client's state can't be written down:", error);
        return false;
      }
    }
    return true;
  }

  /** The number of connections and of their messages: a text that changes when anything has happened. */
  get counts(): string {
    return `${this.#connections.size} ${this.#messages}`;
  }

  get all(): IterableIterator<ServerConnection> {
    return this.#connections.values();
  }

  // ---- New connections -----------------------------------------------------------------------------------------

  /**
   * Takes a client's socket: it is not attached to a session yet.
   * @param signal Aborts if the client leaves before its upgrade is answered: its socket has no event for that.
   * @param begin Called with the first message, if the client's dialect starts with one.
   */
  accept(spec: AttachSpec, signal: AbortSignal, begin?: (begin: Begin) => void): [Response, ServerConnection] {
    const pair = new WebSocketPair();
    const socket = pair[1];
    const dialect = dialectNamed(spec.dialect);
    if (this.#canPark(dialect)) this.#sockets.acceptLasting(socket, dialect.name);
    else this.#sockets.acceptOwn(socket, this);
    const connection = this.#connect(socket, keptSpecOf(spec), undefined, begin);
    const vanished = () => this.webSocketClose(socket, 1006, "");
    if (signal.aborted) vanished();
    else signal.addEventListener("abort", vanished);
    return [new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(spec) }), connection];
  }

  #connect(socket: WebSocket, spec: KeptSpec, kept?: KeptWatch, begin?: (begin: Begin) => void): ServerConnection {
    const { watches, trace, audit, limits } = this.#ports;
    const dialect = dialectNamed(spec.dialect);
    const hooks: ConnectionHooks = {
      auth: (token) => this.#ports.auth(connection, token),
      later: (ms, act) => void setTimeout(act, ms),
      sessionMs: () => this.#ports.sessionMs(),
      told: (said) => audit?.told(connection, said, spec.actor),
      earlyBytes: () => [...this.#connections.values()].reduce((sum, { earlyBytes }) => sum + earlyBytes, 0),
      ...defined({ begin }),
    };
    const to = trace.opened(socket, this.#sockets.serverSocket(socket), spec);
    const connection: ServerConnection = new ServerConnection(dialect, to, Date.now(), hooks, limits.budget);
    this.#connections.set(socket, connection);
    this.#specs.set(connection, spec);
    const look = {
      isLookedAt: !dialect.acknowledges,
      queue: () => this.#sockets.queueOf(socket),
      gone: () => this.webSocketClose(socket, 1006, ""),
    };
    watches.add(connection, { ...spec, canPark: this.#canPark(dialect) }, look, kept);
    return connection;
  }

  /** Whether a dialect's sockets can hibernate. A plain client that never sends would notice their close late. */
  #canPark(dialect: Dialect): boolean {
    return dialect.acknowledges || (this.#ports.limits.parksPlain && answersPings(dialect));
  }

  // ---- WebSocket events ----------------------------------------------------------------------------------------

  webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#sockets.heard(socket);
    this.#messages += 1;
    const frame = typeof message === "string" ? message : new Uint8Array(message);
    const connection = this.#connections.get(socket);
    this.#ports.trace.heard(socket, frame);
    this.#ports.counts.add("received_bytes", frame.length);
    try {
      connection?.receive(frame, Date.now());
    } catch (error) {
      // The runtime would skip this message. A new connection makes the client send its unacknowledged messages again.
      log.error("a client's message could not be dealt with:", error);
      connection?.dismiss(CLOSE.internal, "a message could not be dealt with", "after", "vanished");
    }
    if (connection === undefined || connection.isEnded) this.#ports.changed();
    else this.#ports.heard();
  }

  webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#ended(socket, code);
    this.#sockets.answerClose(socket, code, clipUtf8(reason, 123));
  }

  webSocketError(socket: WebSocket): void {
    this.#ended(socket, 1006);
  }

  #ended(socket: WebSocket, code: number): void {
    const connection = this.#connections.get(socket);
    this.#connections.delete(socket);
    this.#sockets.ended(socket);
    this.#ports.trace.ended(socket, code);
    if (connection !== undefined) {
      this.#ports.audit?.ended(connection, code);
      // A connection that this side dropped was silent: its client may be asleep and reconnect later.
      const hasClosed = connection.client !== undefined;
      connection.closed(code);
      if (hasClosed) this.#ports.closedByClient();
      const pass = this.#ports.watches.remove(connection);
      if (pass !== undefined) this.#ports.ended(pass);
    }
    this.#ports.changed();
  }

  // ---- Time ----------------------------------------------------------------------------------------------------

  /** When to look again, as Date.now(); infinity for never. */
  nextTickMs(nowMs: number): number {
    let nextMs = this.#ports.watches.nextTickMs(nowMs);
    for (const { silentAtMs } of this.#connections.values()) nextMs = Math.min(nextMs, silentAtMs ?? nextMs);
    return nextMs;
  }

  /** Drops connections that have been silent for too long, and ends those whose right has run out. */
  tick(nowMs: number): void {
    const isSilent = ({ silentAtMs }: ServerConnection) => (silentAtMs ?? Number.POSITIVE_INFINITY) <= nowMs;
    for (const [socket, connection] of [...this.#connections]) {
      if (!isSilent(connection)) continue;
      // The runtime answers pings without waking this object.
      connection.heardAtMs = Math.max(connection.heardAtMs, this.#sockets.pingedAtMs(socket));
      if (isSilent(connection)) connection.drop();
    }
    this.#ports.watches.tick(nowMs);
  }
}

function keptSpecOf({ dialect, who, actor, pass, limits, query }: AttachSpec): KeptSpec {
  const spec = { dialect, who, actor, pass, query: { role: query.role } };
  return limits === undefined ? spec : { ...spec, limits };
}

/** The state stored with a socket in this parking, if any. */
function keptWith(socket: WebSocket, epoch: string): Kept | undefined {
  const kept = socket.deserializeAttachment() as Kept | null;
  return kept?.epoch === epoch ? kept : undefined;
}
