// All codex clients of one sandbox (section 12): their sessions, which outlive connections and this object, and what they ask. One
// Durable Object, so that a client that comes back finds what it had. Each process is an ordinary session, with an object of its own.

import { CodexError, type CodexParams, ERROR, readParams, requireBase64, uriOf } from "sandbox-stdio/codex";
import { CODEX, type CodexSpec } from "../attach/codex-spec.ts";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import type { EntryEnv, Pass } from "../attach/entry-limits.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import type { ProjectEnv } from "../auth/project-gate.ts";
import { askFiles } from "../bridge/files.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import type { ProgramAnswer } from "../programs/operations/call.ts";
import { type CodexProcess, CodexStore } from "../records/codex-store.ts";
import { refuseHttp } from "../refusal/refusal.ts";
import type { Lifetimes } from "../sockets/lifetimes.ts";
import type { SessionTickets } from "../tickets/session-tickets.ts";
import { CodexConnection, type CodexHandler } from "./connection.ts";
import { CodexFiles } from "./files.ts";
import { type ChunksBody, forgottenResult, readResult, tellOutput } from "./output.ts";
import { call, keyOf, nameOf, processFor, requireAnswer, start, type Target } from "./process-calls.ts";
import { typeOnce } from "./typing.ts";

/** Processes of one session that run at one time. */
const MAX_RUNNING = 64;
const MAX_READ_BYTES = 1024 * 1024;
const MAX_CHUNK_BYTES = 1024 * 1024;
const TICKET_REVOKED = { code: 4401, error: "ticket_revoked", message: "The ticket was revoked" } as const;
/** That a session is in use is stored this often. */
const SEEN_STEP_MS = 10 * 60_000;

export type CodexEnv = EntryEnv & ProjectEnv & BridgeEnv & CommandEnv;

export interface CodexPorts {
  readonly env: CodexEnv;
  readonly storage: DurableObjectStorage;
  readonly lifetimes: Lifetimes;
  readonly tickets: SessionTickets;
  readonly audit: SessionAudit | undefined;
  /** Something may be due at another time than before. */
  changed(): void;
  /** The time at which a session expires may be another. */
  alarm(): void;
  ended(pass: Pass): void;
  waitUntil(promise: Promise<unknown>): void;
}

export class CodexHub implements CodexHandler {
  readonly #at: CodexPorts;
  readonly #store: CodexStore;
  readonly #files: CodexFiles;
  /** The newest connection of each session. */
  readonly #current = new Map<string, CodexConnection>();
  /** Starts and writes of one process follow each other. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #seenAtMs = 0;

  constructor(ports: CodexPorts) {
    this.#at = ports;
    this.#store = new CodexStore(ports.storage);
    this.#files = new CodexFiles(ports.env, ports.audit);
  }

  /** Answers an upgrade. */
  connect(spec: CodexSpec): Response {
    const { tickets, lifetimes, audit, changed, ended } = this.#at;
    const { share } = spec.who;
    if (share !== undefined && tickets.share(share.id, CODEX, Date.now()) === undefined) {
      ended(spec.pass);
      return refuseHttp(TICKET_REVOKED);
    }
    audit?.at({ sandbox: spec.sandbox, session: CODEX });
    const pair = new WebSocketPair();
    const connection = new CodexConnection(pair[1], spec, this);
    lifetimes.add(connection, spec.who, spec.pass);
    changed();
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  /** When a session expires, as Date.now(); infinity for never. */
  get dueMs(): number {
    return this.#store.dueMs;
  }

  /** Ends the sessions whose client has not come back. */
  async tick(nowMs: number): Promise<void> {
    for (const id of this.#current.keys()) this.#store.seen(id, nowMs);
    for (const id of this.#store.expired(nowMs)) await this.#expire(id);
  }

  async #expire(id: string): Promise<void> {
    const { env } = this.#at;
    const place = this.#store.place(id);
    const running = this.#store.processes(id).filter(({ isClosed }) => !isClosed);
    this.#store.forget(id);
    if (place === undefined) return;
    await Promise.all(
      running.map(async ({ name }) => env.SESSION.getByName(await keyOf(env, place, name)).end(place.actor)),
    );
  }

  // ---- As the handler of connections -------------------------------------------------------------------------------

  async request(connection: CodexConnection, method: string, params: unknown): Promise<object> {
    if (method === "initialize") return this.#initialize(connection, readParams(method, params));
    const { session } = connection;
    if (session === undefined) throw new CodexError(ERROR.invalidRequest, "initialize first");
    this.#seen(session);
    switch (method) {
      case "process/start": {
        const wanted = readParams(method, params);
        return this.#inTurn(session, wanted.processId, () => this.#start(connection, session, wanted));
      }
      case "process/read":
        return this.#read(connection, session, readParams(method, params));
      case "process/write": {
        const wanted = readParams(method, params);
        requireBase64(wanted.chunk, MAX_CHUNK_BYTES, "chunk");
        return this.#inTurn(session, wanted.processId, () => this.#write(connection, session, wanted));
      }
      case "process/signal": {
        const name = this.#require(session, readParams(method, params).processId).name;
        const answer = await this.#call(connection, name, { type: "signal", signal: "SIGINT", writer: CODEX });
        if (!hasEnded(answer)) requireAnswer(answer);
        return {};
      }
      case "process/terminate": {
        const process = this.#store.process(session, readParams(method, params).processId);
        if (process === undefined || process.isClosed) return { running: false };
        const answer = await this.#call(connection, process.name, KILL);
        if (!hasEnded(answer)) requireAnswer(answer);
        return { running: answer.status < 300 };
      }
      default:
        return this.#files.request(connection.spec, session, method, params);
    }
  }

  answered(connection: CodexConnection): void {
    const { session } = connection;
    if (session === undefined || connection.isTelling || connection.spec.fetches) return;
    connection.isTelling = true;
    // Behind the answer that has the session's id.
    for (const process of this.#store.processes(session)) if (!process.isClosed) this.#tell(connection, process);
  }

  ended(connection: CodexConnection): void {
    const { session, spec } = connection;
    this.#at.lifetimes.remove(connection);
    this.#at.ended(spec.pass);
    if (session !== undefined && this.#current.get(session) === connection) {
      this.#current.delete(session);
      this.#store.seen(session, Date.now());
      this.#at.alarm();
    }
    this.#at.changed();
  }

  // ---- Sessions ----------------------------------------------------------------------------------------------------

  async #initialize(connection: CodexConnection, { resumeSessionId }: CodexParams["initialize"]): Promise<object> {
    if (connection.session !== undefined) throw new CodexError(ERROR.invalidRequest, "it is initialized already");
    const { spec } = connection;
    const person = personOf(spec);
    const id = resumeSessionId ?? crypto.randomUUID().replaceAll("-", "");
    if (resumeSessionId != null && !this.#store.has({ id, person }, Date.now())) {
      throw new CodexError(ERROR.invalidRequest, "there is no such session: begin a new one");
    }
    // What was told before holds, also while the sandbox can't be reached.
    const known = this.#store.surroundings(id) ?? (await this.#surroundings(spec));
    if (connection.isEnded) throw new CodexError(ERROR.failed, "the connection has ended");
    const nowMs = Date.now();
    const { tenant, sandbox, user, actor } = spec;
    const place = { tenant, sandbox, user, actor };
    if (resumeSessionId == null) this.#store.make({ id, person, surroundings: known, place }, nowMs);
    else this.#store.cameBack(id, place, nowMs);
    connection.session = id;
    this.#current.get(id)?.replace();
    this.#current.set(id, connection);
    this.#at.alarm();
    return { sessionId: id, environmentInfo: JSON.parse(known) as object };
  }

  /** As JSON. */
  async #surroundings({ sandboxKey, sandbox }: CodexSpec): Promise<string> {
    const { answer } = await askFiles(this.#at.env, sandboxKey, sandbox, { op: "where" });
    const where = answer.ok ? answer.where : undefined;
    if (where === undefined) throw new CodexError(ERROR.failed, answer.ok ? "no answer" : answer.message);
    const { cwd, home, shell } = where;
    const name = shell.slice(shell.lastIndexOf("/") + 1);
    const info = { cwd: uriOf(cwd), userHomeDir: uriOf(home), platformOs: "linux" };
    return JSON.stringify({ shell: { name, path: shell }, ...info });
  }

  #seen(session: string): void {
    const nowMs = Date.now();
    if (this.#seenAtMs + SEEN_STEP_MS > nowMs) return;
    this.#seenAtMs = nowMs;
    this.#store.seen(session, nowMs);
  }

  // ---- Processes ---------------------------------------------------------------------------------------------------

  async #start(connection: CodexConnection, session: string, params: CodexParams["process/start"]): Promise<object> {
    const { processId, argv, tty, pipeStdin = false } = params;
    const answer = { processId, sandboxType: "none" };
    if (this.#store.process(session, processId) !== undefined) return answer;
    const { env } = this.#at;
    const wanted = processFor(params);
    const refusal = commandRefusal(env, argv[0] ?? "", connection.spec.who.isAdmin);
    if (refusal !== undefined) throw new CodexError(ERROR.failed, refusal.message);
    if (this.#store.runningCount(session) >= MAX_RUNNING) {
      throw new CodexError(ERROR.failed, `${MAX_RUNNING} processes run in this session: end one`);
    }
    const name = nameOf(session, processId);
    const process = { processId, name, isTty: tty, hasInput: tty || pipeStdin, sent: 0, isClosed: false };
    // First: should this object be lost meanwhile, the process is still the session's.
    this.#store.add(session, process);
    // Not given up with the connection: the client may come back for it.
    const target = { ...this.#target(connection), signal: new AbortController().signal };
    const started = await start(target, name, wanted);
    if (started.status >= 300) this.#store.remove(session, processId);
    requireAnswer(started);
    const current = this.#current.get(session);
    if (current?.isTelling === true) this.#tell(current, process);
    return answer;
  }

  #tell(connection: CodexConnection, process: CodexProcess): void {
    const { session } = connection;
    if (session === undefined || connection.isEnded) return;
    const told = (sent: number, isClosed: boolean) => this.#store.sent(session, process.processId, sent, isClosed);
    this.#at.waitUntil(tellOutput(this.#target(connection), connection, process, told).catch(() => undefined));
  }

  async #read(connection: CodexConnection, session: string, params: CodexParams["process/read"]): Promise<object> {
    const { name } = this.#require(session, params.processId);
    const { afterSeq, maxBytes, waitMs } = params;
    const after = afterSeq ?? 0;
    const answer = await this.#call(connection, name, {
      type: "chunks",
      after,
      maxBytes: Math.min(maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES),
      waitMs: waitMs ?? 0,
      reader: `${connection.spec.who.name} (codex)`,
    });
    if (answer.status === 404) return forgottenResult(after);
    return readResult(requireAnswer(answer) as unknown as ChunksBody, answer.bytes);
  }

  async #write(connection: CodexConnection, session: string, params: CodexParams["process/write"]): Promise<object> {
    const process = this.#store.process(session, params.processId);
    if (process === undefined) return { status: "unknownProcess" };
    if (!process.hasInput) return { status: "stdinClosed" };
    return { status: await typeOnce(this.#target(connection), process.name, params) };
  }

  #require(session: string, processId: string): CodexProcess {
    const process = this.#store.process(session, processId);
    if (process !== undefined) return process;
    throw new CodexError(ERROR.invalidRequest, "there is no such process in this session");
  }

  #call(connection: CodexConnection, name: string, operation: Parameters<typeof call>[2]): Promise<ProgramAnswer> {
    return call(this.#target(connection), name, operation);
  }

  #target({ spec, gone: signal }: CodexConnection): Target {
    return { env: this.#at.env, spec, signal };
  }

  #inTurn<T>(session: string, processId: string, task: () => Promise<T>): Promise<T> {
    const key = `${session} ${processId}`;
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(task);
    const settled = turn.catch(() => undefined);
    this.#turns.set(key, settled);
    void settled.then(() => {
      if (this.#turns.get(key) === settled) this.#turns.delete(key);
    });
    return turn;
  }
}

const KILL = { type: "kill", writer: CODEX } as const;

function hasEnded({ status, body }: ProgramAnswer): boolean {
  return status === 404 || body.error === "exited" || body.error === "lost";
}

/** Whose a session is: another person's is none. */
function personOf({ who, tenant }: CodexSpec): string {
  return JSON.stringify([tenant.issuer, tenant.tenantValue, who.bearer?.issuer, who.subject]);
}
