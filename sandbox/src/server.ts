// The bridge's HTTP and WebSocket server: who may speak to it, and which session each connection belongs to.

import type { Server, ServerWebSocket } from "bun";
import {
  type AttachQuery,
  CLOSE,
  clipUtf8,
  type Dialect,
  httpStatusOf,
  INNER_PROTOCOL,
  InnerServer,
  isName,
  MAX_FED_FRAME_BYTES,
  OUTER_PROTOCOL,
  PLAIN,
  PLAIN_TEXT,
  type ProcessSession,
  parseAttachQuery,
  ServerConnection,
  type ServerSocket,
  STDIO,
  tracedReceiver,
  tracedSocket,
} from "sandbox-stdio/core";
import { MAX_ORDER_BYTES, parseOrder } from "sandbox-stdio/programs";
import type { SessionHost } from "./host.ts";
import { log } from "./log.ts";
import { type FindResult, listingOf, Registry } from "./registry.ts";
import type { BridgeSettings } from "./settings.ts";

/** Where a socket has more than this queued, output waits for it to drain. */
const HIGH_WATER_BYTES = 256 * 1024;
/** Beyond this Bun would drop messages; output stops far below, so that only a fault can reach it. */
const QUEUE_LIMIT_BYTES = 64 * 1024 * 1024;
const NAME_LENGTH = 20;
/** More than any client may send at once: what is too long is refused with the code of its dialect. */
const MAX_MESSAGE_BYTES = MAX_FED_FRAME_BYTES + 1024 * 1024;
/** How long the end of all sessions is waited for: a little longer than it takes to get to SIGKILL. */
const STOP_PATIENCE_MS = 4_000;
/** How long after that what was said last may take to go out. */
const LAST_WORDS_MS = 1_000;

/** What a socket is for: set before its upgrade, carried out when it opens. */
type SocketData = {
  readonly open: (socket: ServerWebSocket<SocketData>) => void;
  receive: (frame: string | Uint8Array) => void;
  drained: () => void;
  closed: (code: number) => void;
};

export type Bridge = {
  readonly url: string;
  /** Ends all sessions, tells their clients, and stops serving: within 6 seconds, whatever a process does. */
  stop(): Promise<void>;
};

/** Numbers clients' connections in traces. */
let connections = 0;

export function startBridge(settings: BridgeSettings): Bridge {
  const registry = new Registry(settings);
  let isStopping = false;
  const server = Bun.serve<SocketData>({
    hostname: settings.hostname,
    port: settings.port,
    // Else an error is answered with a page that shows the source.
    development: false,
    error: (error) => {
      log.error("a request failed:", error);
      return refuse(500, "internal", "something went wrong here");
    },
    fetch: (request, self) => {
      // A process that started now would be gone in a moment.
      if (isStopping) return refuse(503, "unavailable", "the bridge is shutting down");
      return route(request, self, settings, registry);
    },
    websocket: {
      maxPayloadLength: MAX_MESSAGE_BYTES,
      backpressureLimit: QUEUE_LIMIT_BYTES,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      idleTimeout: 60,
      open: (socket) => socket.data.open(socket),
      message: (socket, message) => socket.data.receive(message),
      drain: (socket) => socket.data.drained(),
      close: (socket, code) => socket.data.closed(code),
    },
  });
  return {
    url: `http://${server.hostname}:${server.port}`,
    stop: async () => {
      isStopping = true;
      const hosts = [...registry.hosts];
      // Those whose process ends are told its exit, the others that the bridge goes. Not every process can be seen to
      // end: what left its session and writes to its pipes without a pause is out of reach.
      const ends = hosts.filter((host) => host.state === "running").map((host) => host.kill());
      await atMost(STOP_PATIENCE_MS, Promise.all(ends));
      for (const host of hosts) host.shutDown();
      await atMost(LAST_WORDS_MS, server.stop());
      await atMost(LAST_WORDS_MS, server.stop(true));
    },
  };
}

/** Waits for `promise`, but no longer than `ms`. */
async function atMost(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

async function route(
  request: Request,
  server: Server<SocketData>,
  settings: BridgeSettings,
  registry: Registry,
): Promise<Response | undefined> {
  const url = URL.parse(request.url);
  if (url === null) return refuse(400, "bad_request", "the Host header names no host");
  if (url.pathname === "/healthz" || url.pathname === "/") return Response.json({ ok: true });
  // A page in a developer's browser must not open a shell on their laptop: no page speaks to the bridge.
  if (request.headers.has("origin")) return refuse(403, "forbidden", "requests with an Origin are refused");
  if (!isAuthorized(request, settings.token)) {
    return refuse(401, "unauthenticated", "need Authorization: Bearer with the bridge's secret");
  }
  const sandbox = url.searchParams.get("sandbox") ?? "default";
  if (!isName(sandbox)) return refuse(400, "bad_request", '"sandbox" is not a name');
  if (url.pathname === "/attach") return attach(request, url, server, settings, registry);
  if (url.pathname === "/sessions" && request.method === "GET") {
    const sessions = registry.list(sandbox, url.searchParams.get("session") ?? undefined);
    return Response.json({ sessions, idleMs: registry.idleMs });
  }
  if (url.pathname === "/sessions" && request.method === "POST") return start(request, sandbox, registry);
  const name = /^\/sessions\/([^/]+)$/.exec(url.pathname)?.[1];
  if (name !== undefined && request.method === "DELETE") {
    const host = registry.find(sandbox, name);
    if (host === undefined) return refuse(404, "not_found", `no session "${name}"`);
    await host.kill();
    host.remove();
    // Not 204: after one, workerd's client of a container's port fails the next request on that connection.
    return Response.json({ ok: true });
  }
  return refuse(404, "not_found", `no ${request.method} ${url.pathname}`);
}

/** Starts a process that nobody attaches to at once, or finds it. */
async function start(request: Request, sandbox: string, registry: Registry): Promise<Response> {
  if (Number(request.headers.get("content-length") ?? Number.NaN) > MAX_ORDER_BYTES) {
    return refuse(413, "too_long", `a body has at most ${MAX_ORDER_BYTES} bytes`);
  }
  const order = parseOrder(await request.text());
  if ("detail" in order) return refuse(400, "bad_request", order.detail);
  const { label, session } = order;
  const found = registry.order({ sandbox, label, session }, order);
  if (!found.ok) return refuse(httpStatusOf(codeOf(found.fault)), found.fault, found.detail);
  const isNew = found.isNew === true;
  return Response.json({ isNew, sessions: [listingOf(found.host)] }, { status: isNew ? 201 : 200 });
}

function attach(
  request: Request,
  url: URL,
  server: Server<SocketData>,
  settings: BridgeSettings,
  registry: Registry,
): Response | undefined {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
    return refuse(426, "upgrade_required", "/attach is a WebSocket");
  }
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const protocol = [INNER_PROTOCOL, OUTER_PROTOCOL].find((name) => offered.includes(name));
  if (protocol === undefined && offered.some((name) => name !== "")) {
    return refuse(400, "bad_request", `no subprotocol of ${offered.join(", ")} is spoken here`);
  }
  const accept = (data: SocketData): Response | undefined => {
    const headers: Record<string, string> = protocol === undefined ? {} : { "sec-websocket-protocol": protocol };
    if (server.upgrade(request, { data, headers })) return undefined;
    return refuse(400, "bad_request", "this is not a WebSocket upgrade");
  };
  /** A `stdio.v1` client can't see an HTTP refusal: it is accepted, told, and closed. */
  const turnAway = (code: number, error: string, detail: string): Response | undefined => {
    if (protocol !== OUTER_PROTOCOL) return refuse(httpStatusOf(code), error, detail);
    return accept(refusal(code, error === "bad_request" || code === CLOSE.notFound ? detail : `${error}: ${detail}`));
  };

  const parsed = parseAttachQuery(url.searchParams);
  if (!parsed.ok) return turnAway(CLOSE.badRequest, "bad_request", parsed.detail);
  const { query } = parsed;
  const label = url.searchParams.get("label") ?? query.sandbox;
  if (!isName(label)) return turnAway(CLOSE.badRequest, "bad_request", '"label" is not a name');
  const names = { sandbox: query.sandbox, label, session: query.session ?? freshName() };
  const incarnation = url.searchParams.get("incarnation") ?? undefined;
  const proof = query.resume === undefined ? undefined : readProof(query.resume, settings.token);
  if (query.resume !== undefined && proof === undefined) {
    return turnAway(CLOSE.badRequest, "bad_request", '"resume" is not one that this bridge gave');
  }
  if (query.offset !== undefined && query.offset !== 0 && proof === undefined && protocol !== INNER_PROTOCOL) {
    return turnAway(CLOSE.badRequest, "bad_request", '"offset" other than 0 needs a "resume"');
  }
  const mayStart = url.searchParams.get("create") !== "0" && query.role === "driver";
  const found = registry.findOrStart(names, query, incarnation ?? proof?.incarnation, mayStart);
  if (!found.ok) return turnAway(codeOf(found.fault), found.fault, found.detail);
  const { host } = found;
  if (protocol === INNER_PROTOCOL) {
    if ((query.offset ?? 0) > host.session.log.endOffset) {
      return refuse(400, "bad_request", `offset ${query.offset} is beyond the log`);
    }
    return accept(innerSocket(host, query.offset));
  }
  const plain = url.searchParams.get("text") === "1" ? PLAIN_TEXT : PLAIN;
  const dialect = protocol === OUTER_PROTOCOL ? STDIO : plain;
  return accept(outerSocket(host, query, proof?.client, dialect, settings.token));
}

function outerSocket(
  host: SessionHost,
  query: AttachQuery,
  resumed: string | undefined,
  dialect: Dialect,
  secret: string,
): SocketData {
  const data: SocketData = {
    open: (socket) => {
      const { trace } = host;
      const whom = `#${++connections}`;
      trace?.(`opens ${whom} ${dialect.name} role=${query.role}`);
      const seen = tracedSocket(socketOf(socket), trace, whom, "server");
      const connection = new ServerConnection(dialect, seen, performance.now());
      host.addConnection(connection);
      const receive = (frame: string | Uint8Array) => {
        connection.receive(frame, performance.now());
        host.changedSoon();
      };
      data.receive = tracedReceiver(receive, trace, whom, "client");
      data.drained = () => connection.drained();
      data.closed = (code) => {
        trace?.(`${whom} has closed with ${code}`);
        connection.closed(code);
        host.removeConnection(connection);
      };
      const id = resumed ?? newId(host.session, query, secret);
      connection.attach(host.session, {
        id,
        name: query.name,
        role: query.role,
        isAdmin: true, // Whoever knows the bridge's secret owns the sandbox.
        delivery: query.delivery,
        acknowledges: dialect.acknowledges,
        isResume: resumed !== undefined,
        resume: makeProof(host.session.facts.incarnation, id, secret),
        ...(query.size === undefined ? {} : { size: query.size }),
        ...(query.offset === undefined ? {} : { offset: query.offset }),
        ...(query.stdin === undefined ? {} : { stdin: query.stdin }),
        ...(query.attempt === undefined ? {} : { attempt: query.attempt }),
      });
      host.changed();
    },
    receive: ignore,
    drained: ignore,
    closed: ignore,
  };
  return data;
}

function innerSocket(host: SessionHost, asked: number | undefined): SocketData {
  const data: SocketData = {
    open: (socket) => {
      const { trace } = host;
      const seen = tracedSocket(socketOf(socket), trace, "object", "bridge");
      const inner = new InnerServer(host.session, seen, performance.now(), host.ports);
      const receive = (frame: string | Uint8Array) => {
        inner.receive(frame, performance.now());
        host.changedSoon();
      };
      data.receive = tracedReceiver(receive, trace, "object", "object");
      data.drained = () => inner.drained();
      data.closed = (code) => {
        trace?.(`object has closed with ${code}`);
        inner.closed(code);
        host.removeInner(inner);
      };
      host.setInner(inner, asked);
    },
    receive: ignore,
    drained: ignore,
    closed: ignore,
  };
  return data;
}

function refusal(code: number, reason: string): SocketData {
  return {
    open: (socket) => {
      socket.send(JSON.stringify({ type: "bye", code, reason, retry: "never" }));
      socket.close(code, clipUtf8(reason, 123));
    },
    receive: ignore,
    drained: ignore,
    closed: ignore,
  };
}

function socketOf(socket: ServerWebSocket<SocketData>): ServerSocket {
  return {
    send: (frame) => {
      // 0: it is closing, and `close` will say so; -1: queued, and `drain` will say when it is out.
      socket.send(frame);
    },
    close: (code, reason) => socket.close(code, clipUtf8(reason, 123)),
    isWritable: () => socket.getBufferedAmount() < HIGH_WATER_BYTES,
  };
}

function isAuthorized(request: Request, token: string): boolean {
  const given = Buffer.from(request.headers.get("authorization") ?? "");
  const wanted = Buffer.from(`Bearer ${token}`);
  return given.length === wanted.length && crypto.timingSafeEqual(given, wanted);
}

/** What a client that attaches directly shows to come back as itself. */
function makeProof(incarnation: string, client: string, secret: string): string {
  const claim = `${incarnation}.${client}`;
  // Not by node:crypto, which takes 2 MB of memory to import.
  return `${claim}.${new Bun.CryptoHasher("sha256", secret).update(claim).digest("base64url")}`;
}

/** All connections of one life of a client have the same, whichever of them is greeted; none after it has left. */
function newId({ facts, gone }: ProcessSession, { attempt, role }: AttachQuery, secret: string): string {
  if (attempt === undefined) return freshName();
  const whose = `${facts.incarnation} ${role} ${attempt.life}`;
  const id = new Bun.CryptoHasher("sha256", secret).update(whose).digest("hex").slice(0, NAME_LENGTH);
  return gone.has(id) ? freshName() : id;
}

function readProof(proof: string, secret: string): { incarnation: string; client: string } | undefined {
  const [incarnation, client] = proof.split(".");
  if (incarnation === undefined || client === undefined) return undefined;
  const given = Buffer.from(proof);
  const wanted = Buffer.from(makeProof(incarnation, client, secret));
  if (given.length !== wanted.length || !crypto.timingSafeEqual(given, wanted)) return undefined;
  return { incarnation, client };
}

function codeOf(fault: (FindResult & { ok: false })["fault"]): number {
  if (fault === "not_found") return CLOSE.notFound;
  return fault === "conflict" ? CLOSE.conflict : CLOSE.cannotStart;
}

function refuse(status: number, error: string, message: string): Response {
  return Response.json({ error, message }, { status });
}

function freshName(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, NAME_LENGTH);
}

function ignore(): void {
  // The socket is not open yet, or was turned away.
}
