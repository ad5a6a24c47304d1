// The Durable Object of one session: hands its parts calls, events and time, and lets go when no client is left. It can die at
// any moment: the process, its log and its input live beside the process.

import { DurableObject } from "cloudflare:workers";
import { Deadline, earliest, type RelaySession } from "sandbox-stdio/core";
import { specOf } from "../attach/attach-spec.ts";
import { codexSpecOf } from "../attach/codex-spec.ts";
import type { Asker } from "../attach/grant.ts";
import type {
  RecordingIndex,
  RecordingListing,
  RecordingReader,
  Removal,
  TellRecording,
} from "../attach/recording-calls.ts";
import type {
  NewShareTicket,
  SessionCalls,
  SessionListing,
  TicketKind,
  TicketListing,
} from "../attach/session-calls.ts";
import type { Actor } from "../audit/record.ts";
import type { AuditPage } from "../audit/trail.ts";
import { log, useLogLevel } from "../base/log.ts";
import type { Revocation } from "../limits/revocation.ts";
import { gatewayCallOf } from "../mcp/gateway-call.ts";
import { OpenCall } from "../programs/open-call.ts";
import { callOf, packAnswer } from "../programs/operations/call.ts";
import { waitCallOf } from "../programs/wait-socket.ts";
import { listed } from "../recordings/keeping.ts";
import { describeSession, participantsOf } from "../records/session-listing.ts";
import type { SessionRecord } from "../records/session-store.ts";
import type { ProcessState } from "../session/process-state.ts";
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
      heard: () => this.#deadline.expect(this.#parts.lifecycle.session?.nextTickMs),
      outputCame: () => this.#outputCame(),
      ending: () => this.#ending ?? Promise.resolve(),
      end: (by) => this.end(by),
    });
    this.#deadline = new Deadline({
      now: () => Date.now(),
      // A parked session has an alarm instead, and so have quiet clients of codex: a timer would keep the object in memory.
      parts: () => {
        const { lifecycle, codex, timed } = this.#parts;
        return lifecycle.parked === undefined && !codex.isQuiet ? timed : [];
      },
      served: () => this.#changed(),
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
    const codex = codexSpecOf(request);
    if (codex !== undefined) return this.#parts.codex.connect(codex);
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
    const { connections, programs, codex } = this.#parts;
    return this.#awake(() => {
      if (programs.waits.message(socket, message) || codex.message(socket, message)) return;
      connections.webSocketMessage(socket, message);
    }, socket);
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void | Promise<void> {
    return this.#awake(() => {
      if (!this.#closed(socket)) this.#parts.connections.webSocketClose(socket, code, reason);
    }, socket);
  }

  override webSocketError(socket: WebSocket): void | Promise<void> {
    return this.#awake(() => {
      if (!this.#closed(socket)) this.#parts.connections.webSocketError(socket);
    }, socket);
  }

  /** @returns Whether the socket belongs to no client of the session. */
  #closed(socket: WebSocket): boolean {
    const { programs, codex } = this.#parts;
    return programs.waits.closed(socket) || codex.closed(socket);
  }

  #awake(event: () => void = () => undefined, socket?: WebSocket): void | Promise<void> {
    return this.#parts.parking.awake(event, socket);
  }

  // ---- What is due ---------------------------------------------------------------------------------------------

  /** Call after every event: stores an exit, detaches from an unneeded process, or keeps the bridge connected. */
  #changed(): void {
    const { lifecycle, attaching, programs, detached, recordings, alarm } = this.#parts;
    const { state } = lifecycle;
    const isAttached = attaching.isUnderWay || ("session" in state && state.session?.isAttended === true);
    const isRecorded = recordings.isFollowing(Date.now());
    const isNeeded = isAttached || programs.isActive || detached.isPolling || isRecorded;
    switch (state.at) {
      case "absent":
      case "parked":
        break;
      case "running":
        if (!isNeeded) this.#detach(state);
        // The hop broke before any client came, or was closed while the session was parked.
        else if (isAttached || programs.waits.count > 0) lifecycle.hop.keep();
        if (isRecorded && !isAttached && detached.guard(Date.now())) void alarm.set();
        break;
      case "detached":
        if (!isNeeded && state.record.endsUnattended === true) this.#forget();
        break;
      case "ending":
      case "ended":
      case "lost": {
        const { record, session } = state;
        if (state.at === "ending") this.#storeExit(state.session);
        if (!isNeeded && (session === undefined ? record.endsUnattended : record.isTransient) === true) this.#forget();
      }
    }
    this.#deadline.look();
  }

  #storeExit(session: RelaySession): void {
    const { lifecycle, metrics, alarm } = this.#parts;
    if (!lifecycle.storeExit(session, Date.now())) return;
    metrics.flush(Date.now());
    void alarm.set();
  }

  #detach({ record, session }: Extract<ProcessState, { at: "running" }>): void {
    const { lifecycle, detached, metrics, alarm } = this.#parts;
    const isForgotten = record.endsUnattended === true;
    // Once the hop is closed, the screen can't be fetched any more if the container dies (X7).
    if (isForgotten || lifecycle.looks.isDone(session, Date.now())) {
      lifecycle.detach(session, () => {
        if (lifecycle.state.at !== "detached") return;
        detached.unheard(Date.now());
        void alarm.set();
      });
      metrics.flush(Date.now());
      detached.begin(Date.now());
      void alarm.set();
    }
    if (isForgotten) this.#forget();
  }

  /** As `#changed`, but asks no other part: a flood has thousands of frames a second. */
  #outputCame(): void {
    const { recordings, lifecycle } = this.#parts;
    const { session, looks } = lifecycle;
    this.#parts.audit?.answered();
    // Output ends no session. Without attached clients it may include an awaited screen.
    if (session === undefined || !session.isAttended) this.#changed();
    else this.#deadline.expect(earliest([session.nextTickMs, looks.nextTickMs(), recordings.nextTickMs()]));
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

  override async alarm(): Promise<void> {
    const { store, detached, alarm, parking, codex, recordings, timed } = this.#parts;
    await recordings.expire(Date.now());
    await parking.ring(Date.now());
    const due = alarm.ring(Date.now());
    if (due === "forget" && store.record !== undefined) await this.#remove(store.record);
    else if (due === "end") await this.end();
    else {
      await detached.tick(Date.now());
      await codex.tick(Date.now());
      if (codex.isQuiet) for (const part of timed) part.tick(Date.now());
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
    const { store, audit, lifecycle } = this.#parts;
    const { record } = store;
    if (record === undefined) return false;
    audit?.note({ type: "delete" }, undefined, by);
    await lifecycle.end(record);
    await this.#remove(record);
    return true;
  }

  isAlive(): Promise<boolean> {
    return isAlive(this.env, this.#parts);
  }

  async called(incarnation: string): Promise<void> {
    const { store, detached, alarm } = this.#parts;
    if (store.record?.facts.incarnation !== incarnation) return;
    await this.#awake();
    const look = detached.wakeup(Date.now()).then(() => {
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

  addTicket(ticket: NewShareTicket, by: Actor, kind?: TicketKind): "added" | "no_session" | "too_many" {
    return this.#parts.ticketCalls.add(ticket, by, kind);
  }

  listTickets(kind?: TicketKind): TicketListing[] | undefined {
    return this.#parts.ticketCalls.list(kind);
  }

  async revokeTicket(id: string, by: Actor): Promise<boolean> {
    await this.#awake();
    return this.#parts.ticketCalls.revoke(id, by);
  }

  // ---- Recordings ----------------------------------------------------------------------------------------------

  listRecordings(): RecordingListing[] {
    return listed(this.#parts.recordingStore);
  }

  async recordingIndex(incarnation: string | undefined): Promise<RecordingIndex> {
    const { recordings, lifecycle } = this.#parts;
    // A recording ends at now: what a process without clients has put out since is fetched.
    if (lifecycle.state.at === "detached" && lifecycle.state.record.recording !== undefined) {
      await lifecycle.reaching.reachSoon();
      this.#changed();
    }
    lifecycle.settleRecording();
    return recordings.index(incarnation);
  }

  sharedRecording(ticket: string): { readonly incarnation: string } | "none" | "revoked" {
    const { store, tickets } = this.#parts;
    const incarnation = store.record?.facts.incarnation;
    if (incarnation === undefined || tickets.share(ticket, incarnation, Date.now()) === undefined) return "revoked";
    return tickets.givesRecording(ticket) ? { incarnation } : "none";
  }

  recordingSegment(incarnation: string, from: number): Uint8Array | undefined {
    return this.#parts.recordingStore.blob(incarnation, from);
  }

  async streamRecording(
    incarnation: string,
    from: number,
    { who, pass }: RecordingReader,
    tell: TellRecording,
  ): Promise<void> {
    const { lifetimes, recordings } = this.#parts;
    const open = new OpenCall();
    lifetimes.add(open, who, pass);
    this.#changed();
    try {
      const refusal = await Promise.race([recordings.stream(incarnation, from, tell, open), open.dismissed]);
      if (refusal) throw new Error(String(refusal.body.message));
    } finally {
      open.isEnded = true;
      lifetimes.remove(open);
    }
  }

  removeRecordings(incarnation: string | undefined, by: Actor, isAdmin: boolean): Promise<Removal> {
    return this.#parts.recordings.remove(incarnation, by, isAdmin);
  }

  holdRecording(incarnation: string | undefined, reason: string | undefined, by: Actor): "done" | "none" | "removed" {
    return this.#parts.recordings.hold(incarnation, reason, by);
  }

  shrinkRecording(incarnation: string, bytes: number): Promise<number> {
    return this.#parts.recordings.shrink(incarnation, bytes);
  }

  async #remove(record: SessionRecord): Promise<void> {
    const { store, lifecycle, tickets, audit, alarm, metrics } = this.#parts;
    const removed = lifecycle.remove(record);
    store.clear();
    metrics.flush(Date.now());
    tickets.clear();
    await audit?.flush();
    await alarm.set();
    await removed;
  }
}

/** @param awake Wakes a parked session: its container may be gone, and attached clients must learn of it. */
async function describe(
  env: SessionEnv,
  { store, lifecycle, signer }: SessionParts,
  asker: Asker | undefined,
  awake: () => void,
): Promise<SessionListing | undefined> {
  const { record } = store;
  if (record === undefined) return undefined;
  const writerId = asker && signer.writerId(record.facts.incarnation, asker, "api");
  const { session } = lifecycle;
  if (lifecycle.parked === undefined || session === undefined) {
    return describeSession(env, record, session, writerId, () => lifecycle.foundLost(record));
  }
  // Clients at the time of the question, whatever changes while the bridge answers.
  const here = { clients: session.attachedCount, ...participantsOf(session) };
  return { ...(await describeSession(env, record, undefined, writerId, awake)), ...here };
}

async function isAlive(env: SessionEnv, { store, lifecycle, attaching }: SessionParts): Promise<boolean> {
  const { record } = store;
  if (record === undefined) return attaching.isUnderWay;
  if (lifecycle.session !== undefined) return !lifecycle.session.hasEnded;
  return (await describeSession(env, record, undefined)).state === "running";
}
