// All codex clients of one sandbox (section 12): their sessions, which outlive connections and this object, and what they ask. One
// Durable Object, so that a client that comes back finds what it had; while its processes are at rest it needs no memory.

import { CodexError, ERROR, uriOf } from "sandbox-stdio/codex";
import { earliest } from "sandbox-stdio/core";
import { CODEX, type CodexSpec } from "../attach/codex-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import type { EntryEnv, Pass } from "../attach/entry-limits.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { ProjectEnv } from "../auth/project-gate.ts";
import { Turns } from "../base/turns.ts";
import { askFiles } from "../bridge/files.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { type CodexProcess, CodexStore } from "../records/codex-store.ts";
import { refuseHttp } from "../refusal/refusal.ts";
import { quietly } from "../sockets/client-sockets.ts";
import type { Lifetimes } from "../sockets/lifetimes.ts";
import type { SessionTickets } from "../tickets/session-tickets.ts";
import { type Asked, parsed, SHAPES } from "./calls.ts";
import { CodexConnection, type CodexHandler, type KeptConnection } from "./connection.ts";
import { fileRequest } from "./files.ts";
import { interfere, keyOf, nameOf, read, start, type Target, tellOutput, typeOnce } from "./processes.ts";

/** Processes of one session that run at one time. */
const MAX_RUNNING = 64;
const TICKET_REVOKED = { code: 4401, error: "ticket_revoked", message: "The ticket was revoked" } as const;
const NORMAL = 1000;
const RESTARTED = 1012;
/** How often a session in use is stored as such. */
const SEEN_STEP_MS = 10 * 60_000;

export type CodexEnv = EntryEnv & ProjectEnv & BridgeEnv & CommandEnv;

export interface CodexPorts {
  readonly ctx: Pick<DurableObjectState, "acceptWebSocket" | "getTags" | "getWebSockets" | "storage" | "waitUntil">;
  readonly env: CodexEnv;
  readonly lifetimes: Lifetimes;
  readonly tickets: SessionTickets;
  readonly audit: SessionAudit | undefined;
  /** Something may be due at another time than before, or this object needed no more. */
  changed(): void;
  /** The time of the alarm may be another. */
  alarm(): void;
  ended(pass: Pass): void;
}

export class CodexHub implements CodexHandler {
  readonly #at: CodexPorts;
  readonly #store: CodexStore;
  readonly #connections = new Map<WebSocket, CodexConnection>();
  /** Starts and writes of one process follow each other. */
  readonly #turns = new Turns();
  #seenAtMs = 0;
  /** Processes whose output a client is being told. */
  #telling = 0;

  constructor(ports: CodexPorts) {
    this.#at = ports;
    this.#store = new CodexStore(ports.ctx.storage.kv);
  }

  /** Answers an upgrade. */
  connect(spec: CodexSpec): Response {
    const { ctx, tickets, ended } = this.#at;
    const { share } = spec.who;
    if (share !== undefined && tickets.share(share.id, CODEX, Date.now()) === undefined) {
      ended(spec.pass);
      return refuseHttp(TICKET_REVOKED);
    }
    const pair = new WebSocketPair();
    ctx.acceptWebSocket(pair[1], [CODEX]);
    this.#add(pair[1], { spec, session: undefined }).keep(undefined);
    this.#at.changed();
    this.#at.alarm();
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  /** To be called once: an earlier life of this object may have left connections. */
  restore(): void {
    for (const socket of this.#at.ctx.getWebSockets(CODEX)) {
      const kept = socket.deserializeAttachment() as KeptConnection | null;
      if (kept === null) quietly(() => socket.close(RESTARTED, ""));
      else this.#beginTelling(this.#add(socket, kept));
    }
  }

  #add(socket: WebSocket, kept: KeptConnection): CodexConnection {
    this.#at.audit?.at({ sandbox: kept.spec.sandbox, session: CODEX });
    const connection = new CodexConnection(socket, kept, this);
    this.#connections.set(socket, connection);
    this.#at.lifetimes.add(connection, kept.spec.who, kept.spec.pass);
    return connection;
  }

  /** @returns Whether the socket is one of a codex client. */
  message(socket: WebSocket, data: string | ArrayBuffer): boolean {
    const connection = this.#connections.get(socket);
    connection?.received(data);
    return connection !== undefined;
  }

  /** @returns Whether the socket was one of a codex client. */
  closed(socket: WebSocket): boolean {
    // One whose end has woken this object is not among those that the runtime named.
    if (!this.#connections.has(socket)) {
      quietly(() => {
        const kept = this.#at.ctx.getTags(socket)[0] === CODEX ? socket.deserializeAttachment() : null;
        if (kept !== null) this.#add(socket, kept as KeptConnection);
      });
    }
    const connection = this.#connections.get(socket);
    if (connection === undefined) return false;
    quietly(() => socket.close(NORMAL, ""));
    connection.end();
    return this.#connections.delete(socket);
  }

  // ---- Time --------------------------------------------------------------------------------------------------------

  /** Whether there are clients, of whom none waits for anything: an alarm does for what is due then, and memory is not needed. */
  get isQuiet(): boolean {
    const all = [...this.#connections.values()];
    return all.length > 0 && this.#telling === 0 && all.every(({ isBusy }) => !isBusy);
  }

  /** When a session expires, or a client's right may end, as Date.now(); infinity for never. */
  get dueMs(): number {
    const endMs = this.#connections.size > 0 ? this.#at.lifetimes.nextTickMs : undefined;
    return earliest([this.#store.dueMs, endMs]);
  }

  /** Ends the processes of sessions whose client has not come back. */
  async tick(nowMs: number): Promise<void> {
    const { env } = this.#at;
    for (const { session, isEnded } of this.#connections.values()) {
      if (session !== undefined && !isEnded) this.#store.seen(session, nowMs);
    }
    const ends = this.#store
      .expire(nowMs)
      .flatMap(({ place, names }) =>
        names.map(async (name) => env.SESSION.getByName(await keyOf(env, place, name)).end(place.actor)),
      );
    await Promise.all(ends);
  }

  #seen(session: string): void {
    const nowMs = Date.now();
    if (this.#seenAtMs + SEEN_STEP_MS > nowMs) return;
    this.#seenAtMs = nowMs;
    this.#store.seen(session, nowMs);
  }

  // ---- As the handler of connections -------------------------------------------------------------------------------

  async request(connection: CodexConnection, method: string, params: unknown): Promise<object> {
    if (method === "initialize") return this.#initialize(connection, parsed(SHAPES.initialize, params));
    const { session, spec } = connection;
    if (session === undefined) throw new CodexError(ERROR.invalidRequest, "initialize first");
    this.#seen(session);
    const target = this.#targetOf(connection);
    switch (method) {
      case "process/start": {
        const asked = parsed(SHAPES.start, params);
        const name = nameOf(session, asked.processId);
        return this.#turns.of(name, () => this.#start(target, session, name, asked));
      }
      case "process/read": {
        const { processId, ...asked } = parsed(SHAPES.read, params);
        const process = this.#require(session, processId);
        const answer = await read(target, process.name, asked, !connection.isTelling);
        // A client that fetches gets no notification of the end.
        if (answer.closed && !process.isClosed) this.#store.putProcess(session, { ...process, isClosed: true });
        return answer;
      }
      case "process/write": {
        const asked = parsed(SHAPES.write, params);
        const name = nameOf(session, asked.processId);
        return this.#turns.of(name, async () => {
          const process = this.#store.processes(session).get(name);
          if (process === undefined) return { status: "unknownProcess" };
          return { status: process.hasInput ? await typeOnce(target, name, asked) : "stdinClosed" };
        });
      }
      case "process/signal": {
        const { name } = this.#require(session, parsed(SHAPES.signal, params).processId);
        await interfere(target, name, "signal");
        return {};
      }
      case "process/terminate": {
        const { processId } = parsed(SHAPES.terminate, params);
        const process = this.#store.processes(session).get(nameOf(session, processId));
        const isKnown = process !== undefined && !process.isClosed;
        return { running: isKnown && (await interfere(target, process.name, "kill")) };
      }
      default:
        return fileRequest(this.#at.env, this.#at.audit, spec, session, method, params);
    }
  }

  heard(connection: CodexConnection): void {
    // Not before: a client that has come back asks first for what it has not had, while the log still holds it.
    this.#beginTelling(connection);
  }

  answered(): void {
    this.#at.changed();
  }

  ended(connection: CodexConnection): void {
    const { session, spec } = connection;
    this.#at.lifetimes.remove(connection);
    this.#at.ended(spec.pass);
    if (session !== undefined) this.#store.seen(session, Date.now());
    this.#at.alarm();
    this.#at.changed();
  }

  // ---- Sessions ----------------------------------------------------------------------------------------------------

  async #initialize(connection: CodexConnection, { resumeSessionId }: Asked<"initialize">): Promise<object> {
    if (connection.session !== undefined) throw new CodexError(ERROR.invalidRequest, "it is initialized already");
    const { spec } = connection;
    const person = personOf(spec);
    const id = resumeSessionId ?? crypto.randomUUID().replaceAll("-", "");
    const known = this.#store.session(id, Date.now());
    if (resumeSessionId != null && known?.person !== person) {
      throw new CodexError(ERROR.invalidRequest, "there is no such session: begin a new one");
    }
    // What was told before holds, also while the sandbox can't be reached.
    const surroundings = known?.surroundings ?? (await this.#surroundings(spec));
    if (connection.isEnded || connection.session !== undefined) throw new CodexError(ERROR.failed, "it has ended");
    const { tenant, sandbox, user, actor } = spec;
    this.#store.put(id, { person, surroundings, place: { tenant, sandbox, user, actor }, seenMs: Date.now() });
    this.#connectionOf(id)?.close(NORMAL, "replaced by a newer connection");
    connection.keep(id);
    this.#at.alarm();
    return { sessionId: id, environmentInfo: surroundings };
  }

  async #surroundings({ sandboxKey, sandbox }: CodexSpec): Promise<object> {
    const { answer } = await askFiles(this.#at.env, sandboxKey, sandbox, { op: "where" });
    const where = answer.ok ? answer.where : undefined;
    if (where === undefined) throw new CodexError(ERROR.failed, answer.ok ? "no answer" : answer.message);
    const { cwd, home, shell } = where;
    const name = shell.slice(shell.lastIndexOf("/") + 1);
    return { shell: { name, path: shell }, cwd: uriOf(cwd), userHomeDir: uriOf(home), platformOs: "linux" };
  }

  #connectionOf(id: string): CodexConnection | undefined {
    return [...this.#connections.values()].find(({ session, isEnded }) => session === id && !isEnded);
  }

  // ---- Processes ---------------------------------------------------------------------------------------------------

  async #start(target: Target, session: string, name: string, asked: Asked<"start">): Promise<object> {
    const { processId, argv, tty, pipeStdin } = asked;
    const answer = { processId, sandboxType: "none" };
    const processes = this.#store.processes(session);
    if (processes.has(name)) return answer;
    const refusal = commandRefusal(this.#at.env, argv[0] ?? "", target.spec.who.isAdmin);
    if (refusal !== undefined) throw new CodexError(ERROR.failed, refusal.message);
    if ([...processes.values()].filter(({ isClosed }) => !isClosed).length >= MAX_RUNNING) {
      throw new CodexError(ERROR.failed, `${MAX_RUNNING} processes run in this session: end one`);
    }
    const process = { processId, name, hasInput: tty || pipeStdin, sent: 0, isClosed: false };
    // First: should this object be lost meanwhile, the process is still the session's.
    this.#store.putProcess(session, process);
    try {
      // Not given up with the connection: the client may come back for it.
      await start({ ...target, signal: new AbortController().signal }, name, asked);
    } catch (error) {
      this.#store.removeProcess(session, name);
      throw error;
    }
    const current = this.#connectionOf(session);
    if (current?.isTelling === true) this.#tell(current, session, process);
    return answer;
  }

  #beginTelling(connection: CodexConnection): void {
    const { session, spec, isTelling, isEnded } = connection;
    if (session === undefined || isTelling || isEnded || spec.fetches) return;
    connection.isTelling = true;
    for (const process of this.#store.processes(session).values()) {
      if (!process.isClosed) this.#tell(connection, session, process);
    }
  }

  #tell(connection: CodexConnection, session: string, process: CodexProcess): void {
    const told = (sent: number, isClosed: boolean) => this.#store.putProcess(session, { ...process, sent, isClosed });
    this.#telling += 1;
    const telling = tellOutput(this.#targetOf(connection), connection, process, told).finally(() => {
      this.#telling -= 1;
      this.#at.changed();
    });
    this.#at.ctx.waitUntil(telling);
  }

  #require(session: string, processId: string): CodexProcess {
    const process = this.#store.processes(session).get(nameOf(session, processId));
    if (process !== undefined) return process;
    throw new CodexError(ERROR.invalidRequest, "there is no such process in this session");
  }

  #targetOf({ spec, gone: signal }: CodexConnection): Target {
    return { env: this.#at.env, spec, signal };
  }
}

/** Whose a session is: another person's is none. */
function personOf({ who, tenant }: CodexSpec): string {
  return JSON.stringify([tenant.issuer, tenant.tenantValue, who.bearer?.issuer, who.subject]);
}
