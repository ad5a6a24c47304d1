// The Durable Object of one session: wires its parts, and hands them calls, events and time. It can die at any moment: the
// process, its log and its input live beside the process.

import { DurableObject } from "cloudflare:workers";
import { Deadline, earliest } from "sandbox-stdio/core";
import { specOf } from "../attach/attach-spec.ts";
import { Attaching } from "../attach/attaching.ts";
import { ResumeSigner } from "../attach/resume.ts";
import type { Actor } from "../audit/record.ts";
import { SessionAudit } from "../audit/session-audit.ts";
import { type AuditEnv, readAuditSettings } from "../audit/settings.ts";
import { type AuditPage, AuditTrail } from "../audit/trail.ts";
import { giveBack, type Pass } from "../limits/entry-limits.ts";
import type { AddressesEnv } from "../limits/limit-calls.ts";
import { type LimitEnv, readLimits } from "../limits/limits.ts";
import type { Revocation } from "../limits/revocation.ts";
import { type LogEnv, log, useLogLevel } from "../log.ts";
import { callOf, packAnswer } from "../programs/call.ts";
import { ProgramCalls } from "../programs/program-calls.ts";
import { type TtydEnv, TtydProxy } from "../terminal/proxy.ts";
import { type NewShareTicket, SessionTickets, type TicketListing } from "../tickets/session-tickets.ts";
import { TicketCalls } from "../tickets/ticket-calls.ts";
import { Connections } from "./connections.ts";
import { DeletionAlarm } from "./deletion-alarm.ts";
import { type RenewalEnv, Renewals } from "./renewals.ts";
import type { SessionCalls } from "./session-calls.ts";
import { type KeeperEnv, SessionKeeper } from "./session-keeper.ts";
import { describeSession, type SessionListing } from "./session-listing.ts";
import { type SessionRecord, SessionStore } from "./session-store.ts";
import { SessionTrace } from "./session-trace.ts";
import { UnnamedSession } from "./unnamed.ts";
import { Watches } from "./watches.ts";

/** The bindings and variables that a session object and its parts read. */
export type SessionEnv = KeeperEnv & RenewalEnv & TtydEnv & AddressesEnv & AuditEnv & LimitEnv & LogEnv;

export class SessionObject extends DurableObject<SessionEnv> implements SessionCalls {
  readonly #store: SessionStore;
  readonly #trace: SessionTrace;
  readonly #trail: AuditTrail;
  /** Absent if no audit is kept. */
  readonly #audit: SessionAudit | undefined;
  readonly #alarm: DeletionAlarm;
  readonly #watches: Watches;
  readonly #tickets: SessionTickets;
  readonly #ticketCalls: TicketCalls;
  readonly #renewals: Renewals;
  readonly #connections: Connections;
  readonly #keeper: SessionKeeper;
  readonly #programs: ProgramCalls;
  readonly #attaching: Attaching;
  readonly #deadline: Deadline;
  /** A session that is being forgotten: who comes meanwhile waits for that, and gets a new one. */
  #ending: Promise<unknown> | undefined;

  constructor(ctx: DurableObjectState, env: SessionEnv) {
    super(ctx, env);
    useLogLevel(env);
    const limits = readLimits(env);
    const auditSettings = readAuditSettings(env);
    const { storage } = ctx;
    const signer = new ResumeSigner(env.SESSION_SECRET ?? "", ctx.id.toString());
    const sessionKey = ctx.id.name ?? "";
    const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);
    const changed = () => this.#changed();
    const ending = () => this.#ending ?? Promise.resolve();
    const ended = (pass: Pass) => ctx.waitUntil(giveBack(env, pass));

    const store = new SessionStore(storage);
    const tickets = new SessionTickets(storage);
    const watches = new Watches(limits);
    const { lifetimes } = watches;
    const trace = new SessionTrace(env);
    const trail = new AuditTrail(storage);
    const unnamed = new UnnamedSession(store, limits.unnamedSeconds * 1000);
    const alarm = new DeletionAlarm({ storage, store, unnamed, trail, retentionMs: auditSettings.retentionMs });
    const audit =
      auditSettings.mode === "off"
        ? undefined
        : new SessionAudit({
            trail,
            settings: auditSettings,
            isTty: () => store.record?.facts.tty ?? true,
            storing: () => alarm.ensure(),
            stored: (client) => keeper.session?.recorded(client),
            failed: (error) => {
              log.error("the audit could not be stored:", error);
              // Whatever was not stored was not acknowledged: the clients come back and say it again.
              ctx.abort("the audit could not be stored");
            },
          });
    if (store.record !== undefined) audit?.at(store.record.facts);
    const renewals = new Renewals({
      ...{ env, lifetimes, tickets, sessionKey, changed },
      sandbox: () => store.record?.facts.sandbox,
    });
    const keeper: SessionKeeper = new SessionKeeper({
      ...{ env, store, limits, audit, sessionKey, waitUntil, changed },
      trace: () => trace.trace,
      isCalled: () => this.#programs.isActive,
    });
    const connections = new Connections(ctx, {
      ...{ limits, watches, trace, audit, ended, changed },
      auth: (connection, token) => ctx.waitUntil(renewals.auth(connection, token)),
      closedByClient: () => {
        const isLast = (keeper.session?.attachedCount ?? 0) === 0;
        if (isLast && unnamed.deserted(Date.now())) void alarm.set();
      },
      // Many clients say much: a message brings forward only what the session waits for.
      heard: () => this.#deadline.expect(keeper.session?.nextTickMs),
    });
    const keeping = auditSettings.mode === "content" ? "content" : "length";
    const ttyds = new TtydProxy({ env, audit, keeping, watches, ended });

    this.#store = store;
    this.#trace = trace;
    this.#trail = trail;
    this.#audit = audit;
    this.#alarm = alarm;
    this.#watches = watches;
    this.#tickets = tickets;
    this.#renewals = renewals;
    this.#connections = connections;
    this.#keeper = keeper;
    this.#ticketCalls = new TicketCalls({ store, tickets, lifetimes, audit, changed });
    this.#programs = new ProgramCalls({
      ...{ env, store, keeper, signer, lifetimes, limits, audit, ending, changed },
      keptUntilChanged: () => void alarm.set(),
    });
    this.#attaching = new Attaching({
      ...{
        env,
        store,
        keeper,
        signer,
        tickets,
        connections,
        lifetimes,
        unnamed,
        ttyds,
        audit,
        ending,
        waitUntil,
        changed,
      },
    });
    this.#deadline = new Deadline({
      now: () => Date.now(),
      nextMs: (nowMs) => this.#nextTickMs(nowMs),
      due: (nowMs) => this.#tick(nowMs),
      wakeIn: (ms, wake) => {
        const timer = setTimeout(wake, ms);
        return () => clearTimeout(timer);
      },
    });
  }

  // ---- Calls and events ----------------------------------------------------------------------------------------

  override async fetch(request: Request): Promise<Response> {
    const call = await callOf(request);
    if (call !== undefined) return packAnswer(await this.#programs.answer(call, request.signal));
    const spec = specOf(request);
    this.#audit?.at({ sandbox: spec.query.sandbox, session: spec.session });
    this.#trace.at(spec);
    return this.#attaching.attach(spec, request.signal);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#connections.webSocketMessage(socket, message);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#connections.webSocketClose(socket, code, reason);
  }

  override webSocketError(socket: WebSocket): void {
    this.#connections.webSocketError(socket);
  }

  // ---- What is due ---------------------------------------------------------------------------------------------

  #changed(): void {
    const session = this.#keeper.session;
    const isUnattended = session?.isAttended !== true && !this.#attaching.isUnderWay;
    const isDeserted = isUnattended && !this.#programs.isActive;
    if (session?.exit !== undefined) {
      if (this.#keeper.storeExit(session, Date.now())) void this.#alarm.set();
      if (isDeserted && this.#store.record?.isTransient === true) this.#forget();
    } else if (isDeserted) {
      if (session !== undefined) this.#keeper.letGo(session);
      if (this.#store.record?.endsUnattended === true) this.#forget();
    } else if (session !== undefined && !isUnattended) this.#keeper.hop.keep(); // It broke before anybody came.
    this.#deadline.look();
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

  #nextTickMs(nowMs: number): number {
    const { hop, session } = this.#keeper;
    return earliest([hop.nextTickMs, session?.nextTickMs, this.#connections.nextTickMs(nowMs)]);
  }

  #tick(nowMs: number): void {
    try {
      this.#connections.tick(nowMs);
      this.ctx.waitUntil(this.#renewals.askIssuers(nowMs));
      this.#keeper.hop.tick(nowMs);
      this.#keeper.session?.tick();
    } finally {
      this.#changed();
    }
  }

  override async alarm(): Promise<void> {
    const { record } = this.#store;
    const due = this.#alarm.ring(Date.now());
    if (due === "forget" && record !== undefined) await this.#remove(record);
    else if (due === "end") await this.end();
    else await this.#alarm.set();
  }

  // ---- What the API asks ---------------------------------------------------------------------------------------

  async describe(): Promise<SessionListing | undefined> {
    const record = this.#store.record;
    return record && describeSession(this.env, record, this.#keeper.session);
  }

  async audit(after: number, limit: number): Promise<AuditPage | undefined> {
    await this.#audit?.flush();
    const page = this.#trail.read(after, limit);
    return page.head.seq === 0 ? undefined : page;
  }

  async end(by?: Actor): Promise<boolean> {
    const record = this.#store.record;
    if (record === undefined) return false;
    this.#audit?.note({ type: "delete" }, undefined, by);
    await this.#keeper.end(record);
    await this.#remove(record);
    return true;
  }

  async isAlive(): Promise<boolean> {
    const record = this.#store.record;
    if (record === undefined) return this.#attaching.isUnderWay;
    if (this.#keeper.session !== undefined) return this.#keeper.session.exit === undefined;
    return (await describeSession(this.env, record, undefined)).state === "running";
  }

  openConnections(ids: readonly string[]): string[] {
    return this.#watches.lifetimes.open(ids);
  }

  revoked(revocation: Revocation, by: string): void {
    this.#watches.lifetimes.revoke(revocation, by);
    this.#changed();
  }

  addTicket(ticket: NewShareTicket, by: Actor): "added" | "no_session" | "too_many" {
    return this.#ticketCalls.add(ticket, by);
  }

  listTickets(): TicketListing[] | undefined {
    return this.#ticketCalls.list();
  }

  revokeTicket(id: string, by: Actor): boolean {
    return this.#ticketCalls.revoke(id, by);
  }

  async #remove(record: SessionRecord): Promise<void> {
    const removed = this.#keeper.remove(record);
    this.#store.clear();
    this.#tickets.clear();
    await this.#audit?.flush();
    await this.#alarm.set();
    await removed;
  }
}
