// A server to test clients against, in one process: the page's files, `/api/me`, and `stdio.v1` on `/attach` with the real
// session core over processes that the test plays itself. Sockets can be cut, and the server can be made unreachable.

import { createReadStream, existsSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { text } from "node:stream/consumers";
import {
  CLOSE,
  type ExitStatus,
  type Mode,
  OUTER_PROTOCOL,
  OutputLog,
  ProcessSession,
  parseAttachQuery,
  type Retry,
  ServerConnection,
  STDIO,
  STREAM_STDOUT,
} from "sandbox-stdio/core";
import { type WebSocket, WebSocketServer } from "ws";

/** The policy that the Worker sends with the page. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

/** A process on a PTY that the test plays: it says what to print and reads what was typed. */
export class PlayedProcess {
  readonly session: ProcessSession;
  /** Every size that the PTY was given, in order. */
  readonly sizes: string[] = [];
  readonly connections = new Set<ServerConnection>();
  /** Everybody who was ever given a place here. */
  readonly known = new Set<string>();
  readonly #typed: Uint8Array[] = [];
  readonly #decoder = new TextDecoder();
  /** Called with what was typed, as it comes. */
  onInput: (text: string) => void = () => undefined;

  constructor(sandbox: string, name: string, tty: boolean, logBytes: number, mode: Mode) {
    this.session = new ProcessSession({
      facts: {
        sandbox,
        session: name,
        incarnation: `${name}-${Math.random()}`,
        tty,
        mode,
        delivery: "live",
      },
      log: new OutputLog({ cols: 80, rows: 24 }, logBytes),
      upstream: {
        input: (client, entry) => {
          if (entry.kind === "eof") this.session.appliedEof(client);
          if (entry.kind !== "bytes") return;
          this.#typed.push(entry.bytes.slice());
          this.session.wrote(client, entry.bytes.length);
          this.onInput(this.#decoder.decode(entry.bytes, { stream: true }));
        },
        resize: (_client, { cols, rows }) => this.sizes.push(`${cols}x${rows}`),
        signal: () => undefined,
        kill: () => this.exit({ code: 129, signal: "SIGHUP" }),
        acked: () => undefined,
        attached: () => undefined,
        departed: () => undefined,
        holder: () => undefined,
        answerer: () => false,
        pane: () => undefined,
      },
      now: () => performance.now(),
      reuseFrames: false,
    });
  }

  /** Everything that was typed so far. */
  get typedBytes(): Buffer {
    return Buffer.concat(this.#typed);
  }

  get typed(): string {
    return this.typedBytes.toString();
  }

  /** Counts what is typed from now on alone. */
  forget(): void {
    this.#typed.length = 0;
  }

  print(text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    this.session.log.append(bytes, STREAM_STDOUT);
    this.session.appended();
  }

  exit(status: ExitStatus): void {
    this.session.exited(status);
  }
}

export class PageServer {
  readonly url: string;
  readonly processes = new Map<string, PlayedProcess>();
  /** The query of every attach, oldest first. */
  readonly attaches: URLSearchParams[] = [];
  /** The subprotocols of every attach. */
  readonly offered: string[] = [];
  /** With which codes clients have closed their connections. */
  readonly closes: number[] = [];
  /** Fresh tokens that clients have sent. */
  readonly tokens: string[] = [];
  /** Who is logged in. */
  user: string | undefined = "Ada Lovelace";
  /** Whether `/attach` is answered. Where not, its connections are torn down, as by a dead network. */
  isReachable = true;
  /** Whether what clients send is lost on its way. */
  isDeaf = false;
  /** Whether acknowledgements of input are. */
  losesAcks = false;
  /** Bytes of input that were lost so. */
  unheard = 0;
  /** What the next attaches are refused with. */
  refusal: { code: number; reason: string; retry: Retry } | undefined;
  /** A folder that is not there: nothing starts in it. */
  goneFolder: string | undefined;
  /** Announced before `hello`, which then waits for {@link startContainer}. */
  isStarting = false;
  logBytes = 1024 * 1024;
  /** The saved tabs, as the page reads them. Writes are dropped. */
  layout: unknown = null;
  /** The settings that are kept for the person who is logged in. */
  preferences: Record<string, unknown> | null = null;
  /** Of sessions that are made from now on. */
  mode: Mode = "collaborative";
  /** What whoever is logged in may do. */
  scopes: readonly string[] = ["sandbox:connect", "sandbox:exec"];
  /** Whether ports of the sandbox can be previewed. */
  hasPreviews = false;
  /** The running sessions, as the API lists them. */
  listed: readonly Record<string, unknown>[] = [];
  /** Sessions that were ended by the API. */
  readonly ended: string[] = [];
  /** When the login ends. */
  loginEndsAt = "2027-01-01T00:00:00.000Z";
  /** Until when the login is, once it is renewed; undefined: the server refuses that. */
  renewsTo: string | undefined;
  /** How often it was asked for. */
  renewals = 0;
  /** What tickets end with: real ones have some 500 characters. */
  ticketTail = "";
  /** Tickets that are good, by their ids. */
  readonly tickets = new Map<string, { readonly role: string; readonly guests: boolean; readonly expiresAt: string }>();
  #startContainer: () => void = () => undefined;
  readonly #http: Server;
  readonly #sockets = new Set<WebSocket>();
  readonly #dist: string;
  readonly #ticking: NodeJS.Timeout;

  static async start(dist: string): Promise<PageServer> {
    const http = createServer();
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    return new PageServer(http, dist);
  }

  private constructor(http: Server, dist: string) {
    this.#http = http;
    this.#dist = dist;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    http.on("request", (request, response) => this.#answer(request, response));
    const handleProtocols = () => OUTER_PROTOCOL;
    const sockets = new WebSocketServer({ noServer: true, handleProtocols, perMessageDeflate: false });
    http.on("upgrade", (request, socket, head) => {
      if (!this.isReachable) socket.destroy();
      else sockets.handleUpgrade(request, socket, head, (webSocket) => void this.#attach(webSocket, request));
    });
    this.#ticking = setInterval(() => {
      for (const { session } of this.processes.values()) session.tick();
    }, 10);
  }

  /** The process of a session, made if there is none: before or after the page attaches. */
  process(name: string, sandbox = "default", tty = true): PlayedProcess {
    const key = `${sandbox}/${name}`;
    const process = this.processes.get(key) ?? new PlayedProcess(sandbox, name, tty, this.logBytes, this.mode);
    this.processes.set(key, process);
    return process;
  }

  /** Tears every connection down without a word, as a dead network does. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  startContainer(): void {
    this.isStarting = false;
    this.#startContainer();
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticking);
    this.cut();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #logIn(until: string): void {
    this.user ??= "Ada Lovelace";
    this.loginEndsAt = until;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    if (pathname === "/api/me") {
      const who = {
        authenticated: true,
        subject: "u-1",
        name: this.user,
        scopes: this.scopes,
        expiresAt: this.loginEndsAt,
        previews: this.hasPreviews,
      };
      response.setHeader("Content-Type", "application/json");
      const renewable = this.renewsTo !== undefined;
      response.end(JSON.stringify({ ...(this.user === undefined ? { authenticated: false } : who), renewable }));
    } else if (pathname === "/api/me/renew") {
      this.renewals += 1;
      if (this.renewsTo !== undefined) this.#logIn(this.renewsTo);
      response.writeHead(this.renewsTo === undefined ? 401 : 200).end();
    } else if (pathname === "/login") {
      // The issuer knows the person still.
      this.#logIn(new Date(Date.now() + 3_600_000).toISOString());
      response.writeHead(303, { Location: searchParams.get("return_to") ?? "/" }).end();
    } else if (pathname === "/api/layout") {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ revision: 0, layout: this.layout }));
    } else if (pathname === "/api/preferences") {
      response.setHeader("Content-Type", "application/json");
      if (request.method === "PUT") {
        void text(request).then((body) => {
          this.preferences = JSON.parse(body).preferences;
          response.end(JSON.stringify({ revision: 1 }));
        });
      } else response.end(JSON.stringify({ revision: 1, preferences: this.preferences }));
    } else if (pathname === "/api/tickets") {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ ticket: "a.fresh" }));
    } else if (pathname === "/api/sandboxes") {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ sandboxes: [] }));
    } else if (pathname.startsWith("/api/sandboxes/")) void this.#answerSharing(pathname, request, response);
    else if (pathname === "/logout" && request.method === "POST") {
      this.user = undefined;
      response.writeHead(request.headers.origin === this.url ? 204 : 403).end();
    } else {
      const file = join(this.#dist, normalize(pathname === "/" ? "/index.html" : pathname));
      if (!file.startsWith(this.#dist) || !existsSync(file)) {
        response.writeHead(404).end();
        return;
      }
      response.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
      response.setHeader("Content-Security-Policy", CONTENT_SECURITY_POLICY);
      response.setHeader("Referrer-Policy", "no-referrer");
      createReadStream(file).pipe(response);
    }
  }

  /** As the Worker does, for whoever is logged in. */
  async #answerSharing(pathname: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, path, id] =
      /^(\/api\/sandboxes\/default\/sessions\/main\/(?:share|tickets))(?:\/(\d+))?$/.exec(pathname) ?? [];
    const say = (status: number, value: unknown) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(status === 204 ? undefined : JSON.stringify(value));
    };
    const session = /^\/api\/sandboxes\/default\/sessions\/([\w-]+)$/.exec(pathname)?.[1];
    if (session !== undefined && request.method === "DELETE") {
      this.ended.push(session);
      say(204, {});
    } else if (pathname === "/api/sandboxes/default/sessions") say(200, { sessions: this.listed });
    // There is nothing to show.
    else if (/\/(?:screen|output)$/.test(pathname)) say(204, {});
    else if (path === undefined || !this.scopes.includes("sandbox:exec"))
      say(403, { message: "needs the scope sandbox:exec" });
    else if (request.method === "POST") {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const wish: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const { role, seconds, guests } = wish as { role: string; seconds: number; guests: boolean };
      const made = String(this.tickets.size + 1);
      const expiresAt = new Date(Date.now() + seconds * 1000).toISOString();
      this.tickets.set(made, { role, guests, expiresAt });
      const ticket = `s.ticket-${made}${this.ticketTail}`;
      say(200, {
        id: made,
        ticket,
        url: `${this.url}/?sandbox=default&session=main&role=${role}#ticket=${ticket}`,
        expiresAt,
      });
    } else if (request.method === "DELETE")
      say(this.tickets.delete(id ?? "") ? 204 : 404, { message: "no such ticket" });
    else say(200, { tickets: [...this.tickets].map(([key, entry]) => ({ id: key, ...entry })) });
  }

  async #attach(webSocket: WebSocket, request: IncomingMessage): Promise<void> {
    const params = new URL(request.url ?? "/", this.url).searchParams;
    this.attaches.push(params);
    this.offered.push(request.headers["sec-websocket-protocol"] ?? "");
    this.#sockets.add(webSocket);
    webSocket.binaryType = "nodebuffer";
    const connection = new ServerConnection(
      STDIO,
      {
        send: (frame) => {
          const isAck = typeof frame === "string" && frame.includes('"stdin_ack"');
          if (!isAck || !this.losesAcks) webSocket.send(frame);
        },
        close: (code, reason) => webSocket.close(code, reason),
        isWritable: () => true,
      },
      performance.now(),
      { auth: (token) => this.tokens.push(token) },
    );
    webSocket.on("message", (message: Buffer, isBinary) => {
      if (this.isDeaf) this.unheard += isBinary ? message.length : 0;
      else connection.receive(isBinary ? Uint8Array.from(message) : message.toString(), performance.now());
    });
    webSocket.on("close", (code) => {
      this.#sockets.delete(webSocket);
      this.closes.push(code);
      connection.closed(code);
    });
    webSocket.on("error", () => undefined); // A cut in the middle of a frame: the close says it again.
    if (this.refusal !== undefined) {
      connection.bye(this.refusal.code, this.refusal.reason, this.refusal.retry);
      return;
    }
    if (this.goneFolder !== undefined && params.get("cwd") === this.goneFolder) {
      connection.bye(CLOSE.cannotStart, `bad_cwd: Cannot enter ${this.goneFolder}`, "never");
      return;
    }
    if (this.isStarting) {
      connection.send({ type: "status", status: "starting" });
      await new Promise<void>((resolve) => {
        this.#startContainer = resolve;
      });
    }
    const parsed = parseAttachQuery(params);
    if (!parsed.ok || parsed.query.session === undefined) {
      connection.bye(CLOSE.badRequest, parsed.ok ? "no session" : parsed.detail, "never");
      return;
    }
    const { query } = parsed;
    const process = this.process(parsed.query.session, query.sandbox, query.process.tty);
    // A place of another process's: the proof names the incarnation.
    if (query.resume !== undefined && !process.known.has(query.resume)) {
      connection.bye(CLOSE.notFound, "process lost", "never");
      return;
    }
    process.connections.add(connection);
    const id = query.resume ?? `client-${this.attaches.length}`;
    process.known.add(id);
    connection.attach(process.session, {
      id,
      name: query.name,
      role: query.role,
      isAdmin: this.scopes.includes("sandbox:admin"),
      delivery: query.delivery,
      acknowledges: true,
      ...(query.size === undefined ? {} : { size: query.size }),
      ...(query.offset === undefined ? {} : { offset: query.offset }),
      ...(query.stdin === undefined ? {} : { stdin: query.stdin }),
      isResume: query.resume !== undefined,
      resume: id,
    });
  }
}
