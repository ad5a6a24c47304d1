// The session's Durable Object: carries out what the session core decides, between the clients' WebSockets and the inner
// hop. It can die at any moment: the process, its log and its input live beside the process.

import { DurableObject } from "cloudflare:workers";
import {
  type AttachRequest,
  type Begin,
  CLOSE,
  type ConnectionHooks,
  clipUtf8,
  dialectNamed,
  PING_TEXT,
  PONG_TEXT,
  type Retry,
  ServerConnection,
  type Session,
} from "sandbox-stdio/core";
import { type Admission, admit, attachableOf, ticketRefusal } from "../attach/admission.ts";
import { type AttachSpec, specOf } from "../attach/attach-spec.ts";
import { kindOf } from "../attach/grant.ts";
import { ResumeSigner } from "../attach/resume.ts";
import type { Actor } from "../audit/record.ts";
import { SessionAudit } from "../audit/session-audit.ts";
import { type AuditEnv, type AuditSettings, readAuditSettings } from "../audit/settings.ts";
import { type AuditPage, AuditTrail } from "../audit/trail.ts";
import { isAwake } from "../bridge/upstream.ts";
import type { Pass } from "../limits/entry-limits.ts";
import type { AddressesEnv } from "../limits/limit-calls.ts";
import { idleMsOf, type LimitEnv, type Limits, readLimits } from "../limits/limits.ts";
import type { Revocation } from "../limits/revocation.ts";
import { type LogEnv, log, useLogLevel } from "../log.ts";
import { callOf, packAnswer } from "../programs/call.ts";
import { ProgramCalls } from "../programs/program-calls.ts";
import { type Refusal, refuseUpgrade, retryOf, sayBye, upgradeHeaders } from "../refusal.ts";
import { type PassedOn, type TtydEnv, TtydProxy } from "../terminal/proxy.ts";
import { type NewShareTicket, SessionTickets, type TicketListing } from "../tickets/session-tickets.ts";
import { ClientSockets, quietly } from "./client-sockets.ts";
import { GoneWatch } from "./gone-watch.ts";
import { IdleWatch } from "./idle.ts";
import { Lifetimes } from "./lifetimes.ts";
import { type RenewalEnv, Renewals } from "./renewals.ts";
import type { SessionCalls } from "./session-calls.ts";
import { type KeeperEnv, SessionKeeper } from "./session-keeper.ts";
import { describeSession, type SessionListing } from "./session-listing.ts";
import { keptUntilMs, type SessionRecord, SessionStore } from "./session-store.ts";
import { SessionTrace } from "./session-trace.ts";
import { sharedPool } from "./unheard.ts";

/** The bindings and variables that a session object and its parts read. */
export type SessionEnv = KeeperEnv & RenewalEnv & TtydEnv & AddressesEnv & AuditEnv & LimitEnv & LogEnv;

export class SessionObject extends DurableObject<SessionEnv> implements SessionCalls {
  readonly #store: SessionStore;
  readonly #signer: ResumeSigner;
  readonly #connections = new Map<WebSocket, ServerConnection>();
  readonly #sockets: ClientSockets;
  readonly #trace: SessionTrace;
  readonly #tickets: SessionTickets;
  readonly #lifetimes = new Lifetimes();
  readonly #idle = new IdleWatch();
  readonly #gone = new GoneWatch();
  readonly #renewals: Renewals;
  readonly #limits: Limits;
  readonly #keeper: SessionKeeper;
  readonly #ttyds: TtydProxy;
  readonly #programs: ProgramCalls;
  readonly #trail: AuditTrail;
  readonly #auditSettings: AuditSettings;
  /** Absent where no audit is kept. */
  readonly #audit: SessionAudit | undefined;
  #hasAlarm = false;
  /** Attaches under way: the inner hop is not let go of while there is one. */
  #pendingAttaches = 0;
  /** A session that is being forgotten: who comes meanwhile waits for that, and gets a new one. */
  #ending: Promise<unknown> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(ctx: DurableObjectState, env: SessionEnv) {
    super(ctx, env);
    useLogLevel(env);
    this.#store = new SessionStore(ctx.storage);
    this.#trace = new SessionTrace(env);
    this.#tickets = new SessionTickets(ctx.storage);
    this.#limits = readLimits(env);
    this.#renewals = new Renewals({
      env,
      lifetimes: this.#lifetimes,
      tickets: this.#tickets,
      sessionKey: ctx.id.name ?? "",
      sandbox: () => this.#store.record?.facts.sandbox,
      changed: () => this.#changed(),
    });
    this.#sockets = new ClientSockets(ctx, sharedPool(this.#limits.unheardBytes));
    this.#trail = new AuditTrail(ctx.storage);
    this.#auditSettings = readAuditSettings(env);
    if (this.#auditSettings.mode !== "off") this.#audit = this.#openAudit(this.#auditSettings);
    this.#ttyds = new TtydProxy(env, this.#audit, this.#auditSettings.mode === "content" ? "content" : "length");
    this.#signer = new ResumeSigner(env.SESSION_SECRET ?? "", ctx.id.toString());
    this.#keeper = new SessionKeeper({
      env,
      store: this.#store,
      limits: this.#limits,
      audit: this.#audit,
      sessionKey: ctx.id.name ?? "",
      waitUntil: (promise) => ctx.waitUntil(promise),
      changed: () => this.#changed(),
      trace: () => this.#trace.trace,
      isCalled: () => this.#programs.isActive,
    });
    this.#programs = new ProgramCalls({
      env,
      store: this.#store,
      keeper: this.#keeper,
      signer: this.#signer,
      lifetimes: this.#lifetimes,
      limits: this.#limits,
      audit: this.#audit,
      ending: () => this.#ending ?? Promise.resolve(),
      changed: () => this.#changed(),
      keptUntilChanged: () => void this.#setAlarm(),
    });
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING_TEXT, PONG_TEXT));
    for (const socket of ctx.getWebSockets()) {
      // A new life of this object: it holds none of the input that they sent and were not acknowledged.
      quietly(() => sayBye(socket, ctx.getTags(socket)[0] ?? "plain", RESTARTED));
    }
  }

  #openAudit(settings: AuditSettings): SessionAudit {
    const audit = new SessionAudit({
      trail: this.#trail,
      settings,
      isTty: () => this.#store.record?.facts.tty ?? true,
      storing: () => this.#ensureAlarm(),
      stored: (client) => this.#keeper.session?.recorded(client),
      failed: (error) => {
        log.error("the audit could not be stored:", error);
        // Whatever was not stored was not acknowledged: the clients come back and say it again.
        this.ctx.abort("the audit could not be stored");
      },
    });
    const record = this.#store.record;
    if (record !== undefined) audit.at(record.facts);
    return audit;
  }

  // ---- Attaching -----------------------------------------------------------------------------------------------

  override async fetch(request: Request): Promise<Response> {
    const call = await callOf(request);
    if (call !== undefined) return packAnswer(await this.#programs.answer(call, request.signal));
    const spec = specOf(request);
    this.#audit?.at({ sandbox: spec.query.sandbox, session: spec.session });
    this.#trace.at(spec);
    this.#pendingAttaches += 1;
    try {
      await this.#ending;
      const ticket = this.#tickets.admit(spec.who, this.#store.record?.facts.incarnation, Date.now());
      if (ticket !== "good") return this.#refuse(spec, ticketRefusal(ticket));
      if (spec.upstream === "ttyd") return await this.#passOn(spec, request.signal);
      await this.#keeper.makeWay(spec);
      const admission = await admit(spec, attachableOf(this.#store.record, spec), this.#signer);
      if ("code" in admission) return this.#refuse(spec, admission);
      if (dialectNamed(spec.dialect).clientBegins === true)
        return this.#attachOnceBegun(spec, admission, request.signal);
      if (spec.refusal === "close") return this.#attachEarly(spec, admission, request.signal);
      // Such a client can be refused only before its upgrade.
      const outcome = await this.#keeper.ensure(spec, admission);
      if (!outcome.ok) return this.#refuse(spec, outcome.refusal);
      const [response, connection] = this.#accept(spec, request.signal);
      await this.#orDismiss(connection, this.#attach(connection, spec, admission, outcome.session));
      return response;
    } finally {
      this.#attachDone(spec);
    }
  }

  /** Connects a client to the ttyd in the sandbox: only how long it may stay is decided here. */
  async #passOn(spec: AttachSpec, signal: AbortSignal): Promise<Response> {
    if (spec.pass.noRoom !== undefined) return this.#refuse(spec, spec.pass.noRoom);
    const begun = (connection: PassedOn): void => {
      this.#lifetimes.add(connection, spec.who, spec.pass);
      this.#idle.add(connection, idleMsOf(this.#limits, spec.limits), Date.now());
      this.#gone.add(connection, { isLookedAt: true, queue: () => connection.queue, gone: () => ended(connection) });
      const aborted = () => connection.dismiss(CLOSE.goingAway, "", "now", "vanished");
      if (signal.aborted) aborted();
      else signal.addEventListener("abort", aborted);
    };
    const ended = (connection: PassedOn): void => {
      this.#idle.remove(connection);
      this.#gone.remove(connection);
      if (this.#lifetimes.remove(connection) !== undefined) this.#giveBack(spec.pass);
    };
    const outcome = await this.#ttyds.attach(spec, begun, ended);
    return outcome instanceof Response ? outcome : this.#refuse(spec, outcome);
  }

  #attachDone({ who, pass }: AttachSpec): void {
    this.#pendingAttaches -= 1;
    const record = this.#store.record;
    // The tenant has kept a place for a process that did not come to be, or has ended before.
    const hasProcess = record !== undefined && record.exit === undefined;
    if (who.mayCreate && !hasProcess && this.#pendingAttaches === 0)
      this.ctx.waitUntil(this.#keeper.processEnded(pass.homeKey));
    this.#changed();
  }

  #refuse(spec: AttachSpec, refusal: Refusal): Response {
    this.#giveBack(spec.pass);
    this.#countRefused(spec, retryOf(refusal));
    const { error, message } = refusal;
    this.#audit?.note({ type: "refused", error, message }, undefined, spec.actor);
    return refuseUpgrade(spec, refusal);
  }

  /** Whoever comes back as itself is not counted among those who try to attach, unless it turns out that it can't. */
  #countRefused({ pass }: AttachSpec, retry: Retry): void {
    if (pass.uncounted === undefined || retry !== "never") return;
    this.ctx.waitUntil(this.env.TENANT.getByName(pass.homeKey).resumeRefused(pass.uncounted));
  }

  /** A connection has ended, or did not come to be: its address may have another. */
  #giveBack({ address, connection }: Pass): void {
    this.ctx.waitUntil(this.env.ADDRESS.getByName(address).giveBack(connection));
  }

  #attachEarly(spec: AttachSpec, admission: Admission, signal: AbortSignal): Response {
    const [response, connection] = this.#accept(spec, signal);
    this.ctx.waitUntil(this.#orDismiss(connection, this.#attachLater(connection, spec, admission)));
    return response;
  }

  /** What its first message says counts for the attach. */
  #attachOnceBegun(spec: AttachSpec, admission: Admission, signal: AbortSignal): Response {
    const begin = ({ size }: Begin): void => {
      const query = size === undefined ? spec.query : { ...spec.query, size };
      this.ctx.waitUntil(this.#orDismiss(connection, this.#attachLater(connection, { ...spec, query }, admission)));
    };
    const [response, connection] = this.#accept(spec, signal, begin);
    return response;
  }

  async #attachLater(connection: ServerConnection, spec: AttachSpec, admission: Admission): Promise<void> {
    this.#pendingAttaches += 1;
    try {
      await this.#ending;
      if (this.#keeper.session === undefined && !(await isAwake(this.env, spec.sandboxKey))) {
        connection.send({ type: "status", status: "starting" });
      }
      const outcome = await this.#keeper.ensure(spec, admission);
      if (outcome.ok) await this.#attach(connection, spec, admission, outcome.session);
      else {
        const { code, error, message, retryAfterSeconds } = outcome.refusal;
        const retry = retryOf(outcome.refusal);
        this.#audit?.note({ type: "refused", error, message }, undefined, spec.actor);
        this.#countRefused(spec, retry);
        connection.bye(code, message, retry, retryAfterSeconds);
      }
    } finally {
      this.#attachDone(spec);
    }
  }

  /** Where attaching fails half way, the runtime goes on answering the client's pings: it would wait for ever. */
  async #orDismiss(connection: ServerConnection, attached: Promise<void>): Promise<void> {
    try {
      await attached;
    } catch (error) {
      log.error("a client could not be attached:", error);
      connection.dismiss(CLOSE.internal, "the session could not be reached", "after", "vanished");
      this.#changed();
    }
  }

  /** @param signal Says that the client is gone before its upgrade was answered: no event of its socket ever does. */
  #accept(spec: AttachSpec, signal: AbortSignal, begin?: (begin: Begin) => void): [Response, ServerConnection] {
    const pair = new WebSocketPair();
    const socket = pair[1];
    const dialect = dialectNamed(spec.dialect);
    if (dialect.acknowledges) this.#sockets.acceptLasting(socket, dialect.name);
    else this.#sockets.acceptOwn(socket, this);
    const now = Date.now();
    const hooks: ConnectionHooks = {
      auth: (token) => this.ctx.waitUntil(this.#renewals.auth(connection, token)),
      told: (said) => this.#audit?.told(connection, said, spec.actor),
      earlyBytes: () => [...this.#connections.values()].reduce((sum, { earlyBytes }) => sum + earlyBytes, 0),
      ...(begin === undefined ? {} : { begin }),
    };
    const to = this.#trace.opened(socket, this.#sockets.serverSocket(socket), spec);
    const connection: ServerConnection = new ServerConnection(dialect, to, now, hooks, this.#limits.budget);
    this.#connections.set(socket, connection);
    this.#lifetimes.add(connection, spec.who, spec.pass);
    this.#idle.add(connection, idleMsOf(this.#limits, spec.limits), now);
    this.#gone.add(connection, {
      isLookedAt: !dialect.acknowledges,
      queue: () => this.#sockets.queueOf(socket),
      gone: () => this.webSocketClose(socket, 1006, ""),
    });
    const aborted = () => this.webSocketClose(socket, 1006, "");
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted);
    return [new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(spec) }), connection];
  }

  async #attach(connection: ServerConnection, spec: AttachSpec, admission: Admission, session: Session): Promise<void> {
    const { query, who } = spec;
    const { incarnation } = session.facts;
    // With the id of a client that has left it would be taken for that one where what it typed is counted and recorded.
    const hasLeft = !admission.isResume && session.client(admission.id) === undefined && session.gone.has(admission.id);
    const id = hasLeft ? this.#signer.newId(crypto.randomUUID(), who.subject, query.role) : admission.id;
    const resume = await this.#signer.make({
      incarnation,
      client: id,
      subject: who.subject,
      role: query.role,
    });
    // The process may be another than the one that was there when its ticket was looked at.
    const party = who.share && this.#tickets.share(who.share.id, incarnation, Date.now());
    if (who.share !== undefined && party === undefined) {
      const { code, error, message } = ticketRefusal("revoked");
      this.#audit?.note({ type: "refused", error, message }, undefined, spec.actor);
      connection.bye(code, message, "never");
      return;
    }
    const request: AttachRequest = {
      id,
      name: query.name || who.name || `guest-${id.slice(0, 4)}`,
      role: query.role,
      kind: kindOf(who),
      isAdmin: who.isAdmin,
      delivery: query.delivery,
      acknowledges: connection.dialect.acknowledges,
      canResume: connection.dialect.canResume,
      holdsAlone: connection.dialect.holdsAlone,
      isResume: admission.isResume,
      resume,
      ...(party === undefined ? {} : { party }),
      mayUseKept: party === undefined && query.role === "driver",
      ...(query.size === undefined ? {} : { size: query.size }),
      ...(query.offset === undefined ? {} : { offset: query.offset }),
      ...(query.stdin === undefined ? {} : { stdin: query.stdin }),
      ...(query.attempt === undefined ? {} : { attempt: query.attempt }),
    };
    if (this.#keeper.session !== session) {
      connection.bye(RESTARTED.code, "the session was lost just now", "now");
      return;
    }
    const undo = this.#audit?.admitted(connection, id, spec.actor);
    const refused = connection.attach(session, request);
    if (refused !== undefined) this.#countRefused(spec, refused.retry);
    if (connection.client === undefined) undo?.();
    else this.#attachedAgain();
    this.#lifetimes.tick(Date.now());
    this.#changed();
  }

  #attachedAgain(): void {
    const { record } = this.#store;
    if (record?.desertedAtMs !== undefined) this.#store.record = { ...record, desertedAtMs: undefined };
  }

  // ---- WebSocket events ----------------------------------------------------------------------------------------

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#sockets.heard(socket);
    const frame = typeof message === "string" ? message : new Uint8Array(message);
    const connection = this.#connections.get(socket);
    this.#trace.heard(socket, frame);
    try {
      connection?.receive(frame, Date.now());
    } catch (error) {
      // The runtime would go on without this message. Its client comes back, and sends again what was not acknowledged.
      log.error("a client's message could not be dealt with:", error);
      connection?.dismiss(CLOSE.internal, "a message could not be dealt with", "after", "vanished");
    }
    // Where its client stays, a message brings forward only what the session waits for, and many clients say much.
    if (connection === undefined || connection.isEnded) this.#changed();
    else if ((this.#keeper.session?.nextTickMs ?? Number.POSITIVE_INFINITY) < this.#timerAtMs) this.#schedule();
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#socketEnded(socket, code);
    this.#sockets.answerClose(socket, code, clipUtf8(reason, 123));
  }

  override webSocketError(socket: WebSocket): void {
    this.#socketEnded(socket, 1006);
  }

  #socketEnded(socket: WebSocket, code: number): void {
    const connection = this.#connections.get(socket);
    this.#connections.delete(socket);
    this.#trace.ended(socket, code);
    if (connection !== undefined) this.#audit?.ended(connection, code);
    // One that was dropped from here was silent: its client may sleep, and mean to come back.
    const hasClosed = connection?.client !== undefined;
    connection?.closed(code);
    if (hasClosed) this.#closedByClient();
    if (connection !== undefined) {
      this.#gone.remove(connection);
      this.#idle.remove(connection);
      const life = this.#lifetimes.remove(connection);
      if (life !== undefined) this.#giveBack(life.pass);
    }
    this.#changed();
  }

  /** Nobody will look for an unnamed session: where its client does not come back soon, it ends (L7a). */
  #closedByClient(): void {
    const { record } = this.#store;
    if (record?.isUnnamed !== true || record.exit !== undefined || (this.#keeper.session?.attachedCount ?? 0) > 0)
      return;
    this.#store.record = { ...record, desertedAtMs: Date.now() };
    void this.#setAlarm();
  }

  // ---- What is due ---------------------------------------------------------------------------------------------

  #changed(): void {
    const session = this.#keeper.session;
    const isUnattended = session?.isAttended !== true && this.#pendingAttaches === 0;
    const isDeserted = isUnattended && !this.#programs.isActive;
    if (session?.exit !== undefined) {
      if (this.#keeper.storeExit(session, Date.now())) void this.#setAlarm();
      if (isDeserted && this.#store.record?.isTransient === true) this.#forget();
    } else if (isDeserted) {
      if (session !== undefined) this.#keeper.letGo(session);
      if (this.#store.record?.endsUnattended === true) this.#forget();
    } else if (session !== undefined && !isUnattended) this.#keeper.hop.keep(); // Broken before anybody came.
    this.#schedule();
  }

  /** Ends the process, which the bridge does too once it has seen the last client go, and frees the name. */
  #forget(): void {
    if (this.#ending !== undefined) return;
    const ending = this.end()
      .catch((error: unknown) => log.warn("a session with nobody left could not be forgotten:", error))
      .finally(() => {
        this.#ending = undefined;
      });
    this.#ending = ending;
    this.ctx.waitUntil(ending);
  }

  #schedule(): void {
    let next = this.#keeper.hop.nextTickMs ?? Number.POSITIVE_INFINITY;
    if (this.#keeper.session !== undefined) next = Math.min(next, this.#keeper.session.nextTickMs ?? next);
    const now = Date.now();
    next = Math.min(next, this.#lifetimes.nextTickMs, this.#idle.nextTickMs(now), this.#gone.nextTickMs(now));
    for (const connection of this.#connections.values()) next = Math.min(next, connection.silentAtMs ?? next);
    if (next >= this.#timerAtMs) return;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAtMs = next;
    if (next === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, next - Date.now()));
  }

  #tick(): void {
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    try {
      this.#doWhatIsDue(Date.now());
    } finally {
      this.#changed(); // Without the next timer nothing here would ever be noticed again.
    }
  }

  #doWhatIsDue(now: number): void {
    for (const [socket, connection] of [...this.#connections]) {
      if ((connection.silentAtMs ?? Number.POSITIVE_INFINITY) > now) continue;
      // Its pings are answered without waking this object.
      connection.heardAtMs = Math.max(connection.heardAtMs, this.#sockets.pingedAtMs(socket));
      if ((connection.silentAtMs ?? Number.POSITIVE_INFINITY) <= now) connection.drop();
    }
    this.#lifetimes.tick(now);
    this.#idle.tick(now);
    this.#gone.tick(now);
    this.ctx.waitUntil(this.#renewals.askIssuers(now));
    this.#keeper.hop.tick(now);
    this.#keeper.session?.tick();
  }

  override async alarm(): Promise<void> {
    const now = Date.now();
    this.#trail.deleteBefore(new Date(now - this.#auditSettings.retentionMs).toISOString());
    const record = this.#store.record;
    if (record !== undefined && keptUntilMs(record) <= now) await this.#remove(record);
    else if (record !== undefined && this.#endOfDesertedMs(record) <= now) await this.end();
    else await this.#setAlarm();
  }

  /** Wakes this object when something is to be deleted: an ended session, or records that are old enough. */
  async #setAlarm(): Promise<void> {
    const dues: number[] = [];
    const { record } = this.#store;
    const until = record === undefined ? [] : [keptUntilMs(record), this.#endOfDesertedMs(record)];
    dues.push(...until.filter((due) => due !== Number.POSITIVE_INFINITY));
    const deletion = this.#trail.deletionDueMs(this.#auditSettings.retentionMs, Date.now());
    if (deletion !== undefined) dues.push(deletion);
    this.#hasAlarm = dues.length > 0;
    // Nobody's messages wait until it is on disk.
    if (dues.length === 0) await this.ctx.storage.deleteAlarm({ allowUnconfirmed: true });
    else await this.ctx.storage.setAlarm(Math.min(...dues), { allowUnconfirmed: true });
  }

  /** When an unnamed session ends that its client has left without a word; infinity where that is not so. */
  #endOfDesertedMs({ desertedAtMs, exit, lostAtMs }: SessionRecord): number {
    const isOver = exit !== undefined || lostAtMs !== undefined;
    return desertedAtMs === undefined || isOver
      ? Number.POSITIVE_INFINITY
      : desertedAtMs + this.#limits.unnamedSeconds * 1000;
  }

  /** What is recorded is to be deleted some day: stored together with the first record that this object makes. */
  #ensureAlarm(): void {
    if (!this.#hasAlarm) void this.#setAlarm();
  }

  // ---- What the API asks ---------------------------------------------------------------------------------------

  async describe(): Promise<SessionListing | undefined> {
    const record = this.#store.record;
    return record && describeSession(this.env, record, this.#keeper.session);
  }

  /** A page of the audit; undefined where nothing was ever recorded. */
  async audit(after: number, limit: number): Promise<AuditPage | undefined> {
    await this.#audit?.flush();
    const page = this.#trail.read(after, limit);
    return page.head.seq === 0 ? undefined : page;
  }

  /** Ends the process and forgets the session; `by` nobody where its rule says so. @returns Whether there was one. */
  async end(by?: Actor): Promise<boolean> {
    const record = this.#store.record;
    if (record === undefined) return false;
    this.#audit?.note({ type: "delete" }, undefined, by);
    await this.#keeper.end(record);
    await this.#remove(record);
    return true;
  }

  /** Whether there is a process, or soon will be. */
  async isAlive(): Promise<boolean> {
    const record = this.#store.record;
    if (record === undefined) return this.#pendingAttaches > 0;
    if (this.#keeper.session !== undefined) return this.#keeper.session.exit === undefined;
    return (await describeSession(this.env, record, undefined)).state === "running";
  }

  /** Of these connections, those that are open. */
  openConnections(ids: readonly string[]): string[] {
    return this.#lifetimes.open(ids);
  }

  /** A tenant has revoked a user or a token. */
  revoked(revocation: Revocation, by: string): void {
    this.#lifetimes.revoke(revocation, by);
    this.#changed();
  }

  /** Makes a share ticket count from now on. */
  addTicket(ticket: NewShareTicket, by: Actor): "added" | "no_session" | "too_many" {
    const incarnation = this.#store.record?.facts.incarnation;
    if (incarnation === undefined) return "no_session";
    if (!this.#tickets.add(ticket, incarnation, Date.now())) return "too_many";
    const { id, role, guests, expiresAtMs } = ticket;
    const expiresAt = new Date(expiresAtMs).toISOString();
    this.#audit?.note({ type: "share", ticket: id, role, guests, expiresAt }, undefined, by);
    return "added";
  }

  /** The share tickets that are good now; undefined where there is no session. */
  listTickets(): TicketListing[] | undefined {
    const { record } = this.#store;
    return record && this.#tickets.list(record.facts.incarnation, Date.now());
  }

  /** Ends a share ticket and every connection that it opened. @returns Whether there was such a ticket. */
  revokeTicket(id: string, by: Actor): boolean {
    if (!this.#tickets.revoke(id)) return false;
    this.#audit?.note({ type: "revoke", ticket: id }, undefined, by);
    this.#lifetimes.revokeTicket(id);
    this.#changed();
    return true;
  }

  async #remove(record: SessionRecord): Promise<void> {
    const removed = this.#keeper.remove(record);
    this.#store.clear();
    this.#tickets.clear();
    await this.#audit?.flush();
    await this.#setAlarm();
    await removed;
  }
}

const RESTARTED: Refusal = { code: CLOSE.restart, error: "restarted", message: "restarted" };
