// The Durable Object of one session: hands its parts calls, events and time, and lets go when no client is left. It can die at
// any moment: the process, its log and its input live beside the process.

import { DurableObject } from "cloudflare:workers";
import { Deadline, earliest } from "sandbox-stdio/core";
import { specOf } from "../attach/attach-spec.ts";
import type { Asker } from "../attach/grant.ts";
import type { NewShareTicket, SessionCalls, SessionListing, TicketListing } from "../attach/session-calls.ts";
import type { Actor } from "../audit/record.ts";
import type { AuditPage } from "../audit/trail.ts";
import { log, useLogLevel } from "../base/log.ts";
import type { Revocation } from "../limits/revocation.ts";
import { gatewayCallOf } from "../mcp/gateway-call.ts";
import { callOf, packAnswer } from "../programs/call.ts";
import { waitCallOf } from "../programs/wait-socket.ts";
import type { SessionRecord } from "../records/session-store.ts";
import { describe, isAlive } from "./session-answers.ts";
import { makeParts, type SessionEnv, type SessionParts } from "./session-parts.ts";

export class SessionObject extends DurableObject<SessionEnv> implements SessionCalls {
  readonly #parts: SessionParts;
  readonly #deadline: Deadline;
  /** A session that is being forgotten: a client that comes meanwhile waits for that, and gets a new one. */
  #ending: Promise<unknown> | undefined;

  constructor(ctx: DurableObjectState, env: SessionEnv) {
    super(ctx, env);
    useLogLevel(env);
    this.#parts = makeParts(ctx, env, {
      changed: () => this.#changed(),
      // Many clients say much: no look at all of them for each message.
      heard: () => this.#deadline.expect(this.#parts.keeper.session?.nextTickMs),
      outputCame: () => this.#outputCame(),
      ending: () => this.#ending ?? Promise.resolve(),
      end: (by) => this.end(by),
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
    await this.#awake();
    const { programs } = this.#parts;
    const wait = waitCallOf(request);
    if (wait !== undefined) return programs.wait(wait, request.signal);
    const call = await callOf(request);
    if (call !== undefined) return packAnswer(await programs.answer(call, request.signal));
    const mcp = await gatewayCallOf(request);
    if (mcp !== undefined) return this.#parts.mcp.answer(mcp, request.signal);
    const spec = specOf(request);
    this.#parts.audit?.at({ sandbox: spec.query.sandbox, session: spec.session });
    this.#parts.trace.at({ sandbox: spec.query.sandbox, session: spec.session });
    return this.#parts.attaching.attach(spec, request.signal);
  }

  /** A parked session stays so: nothing begins before a client has been let in. */
  async wake(): Promise<void> {
    // The runtime has made the object for this call.
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const { connections, programs } = this.#parts;
    return this.#awake(() => {
      if (!programs.waits.message(socket, message)) connections.webSocketMessage(socket, message);
    }, socket);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void | Promise<void> {
    const { connections, programs } = this.#parts;
    return this.#awake(() => {
      if (!programs.waits.closed(socket)) connections.webSocketClose(socket, code, reason);
    }, socket);
  }

  override webSocketError(socket: WebSocket): void | Promise<void> {
    const { connections, programs } = this.#parts;
    return this.#awake(() => {
      if (!programs.waits.closed(socket)) connections.webSocketError(socket);
    }, socket);
  }

  #awake(event: () => void = () => undefined, socket?: WebSocket): void | Promise<void> {
    return this.#parts.parking.awake(event, socket);
  }

  // ---- What is due ---------------------------------------------------------------------------------------------

  #changed(): void {
    if (this.#parts.parking.isParked) {
      this.#deadline.look();
      return;
    }
    const { store, keeper, attaching, programs, unwatched, alarm, metrics } = this.#parts;
    const { session } = keeper;
    const isUnattended = session?.isAttended !== true && !attaching.isUnderWay;
    const isDeserted = isUnattended && !programs.isActive && !unwatched.isLooking;
    if (session?.hasEnded === true) {
      if (keeper.storeExit(session, Date.now())) {
        metrics.flush(Date.now());
        void alarm.set();
      }
      if (isDeserted && store.record?.isTransient === true) this.#forget();
    } else if (isDeserted) {
      const isForgotten = store.record?.endsUnattended === true;
      // Once no part asks for it, the screen can't be had any more if the container dies (X7).
      const isSeen = session === undefined || isForgotten || keeper.looks.isDone(session, Date.now());
      if (session !== undefined && isSeen) {
        keeper.letGo(session);
        metrics.flush(Date.now());
        unwatched.begin(Date.now());
        void alarm.set();
      }
      if (isForgotten) this.#forget();
    } else if (session !== undefined && (!isUnattended || programs.waits.count > 0)) {
      keeper.hop.keep(); // It broke before any client came, or was closed while it slept.
    }
    this.#deadline.look();
  }

  /** As `#changed`, but asks no other part: a flood has thousands of frames a second. */
  #outputCame(): void {
    const { session, looks } = this.#parts.keeper;
    this.#parts.audit?.answered();
    // Output ends no session. With nobody attached, it may bring the screen that was waited for.
    if (session === undefined || !session.isAttended) this.#changed();
    else this.#deadline.expect(earliest([session.nextTickMs, looks.nextTickMs(session)]));
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
    const { connections, keeper, parking, metrics } = this.#parts;
    if (parking.isParked) return Number.POSITIVE_INFINITY;
    const { hop, session, looks } = keeper;
    const quietMs = parking.nextTickMs(nowMs);
    return earliest([
      ...[hop.nextTickMs, session?.nextTickMs, looks.nextTickMs(session), connections.nextTickMs(nowMs)],
      ...[metrics.nextTickMs, quietMs],
    ]);
  }

  #tick(nowMs: number): void {
    const { connections, renewals, keeper, parking, metrics } = this.#parts;
    try {
      metrics.tick(nowMs);
      connections.tick(nowMs);
      this.ctx.waitUntil(renewals.askIssuers(nowMs));
      keeper.hop.tick(nowMs);
      keeper.session?.tick();
      keeper.looks.tick(keeper.session, nowMs);
      parking.tick(nowMs);
    } finally {
      this.#changed();
    }
  }

  override async alarm(): Promise<void> {
    const { store, unwatched, alarm, parking } = this.#parts;
    await parking.ring(Date.now());
    const due = alarm.ring(Date.now());
    if (due === "forget" && store.record !== undefined) await this.#remove(store.record);
    else if (due === "end") await this.end();
    else {
      await unwatched.tick(Date.now());
      this.#changed();
      await alarm.set();
    }
  }

  // ---- What the API asks ---------------------------------------------------------------------------------------

  describe(asker?: Asker): Promise<SessionListing | undefined> {
    return describe(this.env, this.#parts, asker, () => void this.#awake());
  }

  async audit(after: number, limit: number): Promise<AuditPage | undefined> {
    await this.#parts.audit?.flush();
    const page = this.#parts.trail.read(after, limit);
    return page.head.seq === 0 ? undefined : page;
  }

  async end(by?: Actor): Promise<boolean> {
    await this.#awake();
    const { store, audit, keeper } = this.#parts;
    const { record } = store;
    if (record === undefined) return false;
    audit?.note({ type: "delete" }, undefined, by);
    await keeper.end(record);
    await this.#remove(record);
    return true;
  }

  isAlive(): Promise<boolean> {
    return isAlive(this.env, this.#parts);
  }

  async called(incarnation: string): Promise<void> {
    const { store, unwatched, alarm } = this.#parts;
    if (store.record?.facts.incarnation !== incarnation) return;
    await this.#awake();
    const look = unwatched.called(Date.now()).then(() => {
      this.#changed();
      return alarm.set();
    });
    this.ctx.waitUntil(look);
  }

  openConnections(ids: readonly string[]): string[] {
    return this.#parts.lifetimes.open(ids);
  }

  async revoked(revocation: Revocation, by: string): Promise<void> {
    await this.#awake();
    this.#parts.lifetimes.revoke(revocation, by);
    this.#changed();
  }

  addTicket(ticket: NewShareTicket, by: Actor): "added" | "no_session" | "too_many" {
    return this.#parts.ticketCalls.add(ticket, by);
  }

  listTickets(): TicketListing[] | undefined {
    return this.#parts.ticketCalls.list();
  }

  async revokeTicket(id: string, by: Actor): Promise<boolean> {
    await this.#awake();
    return this.#parts.ticketCalls.revoke(id, by);
  }

  async #remove(record: SessionRecord): Promise<void> {
    const { store, keeper, tickets, audit, alarm, metrics } = this.#parts;
    const removed = keeper.remove(record);
    store.clear();
    metrics.flush(Date.now());
    tickets.clear();
    await audit?.flush();
    await alarm.set();
    await removed;
  }
}
