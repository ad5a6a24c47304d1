// How one upgrade becomes a client of the session: in which order it is checked, accepted and attached, or refused.

import {
  type AttachRequest,
  type Begin,
  CLOSE,
  defined,
  dialectNamed,
  placeOf,
  type RelaySession,
  type ServerConnection,
} from "sandbox-stdio/core";
import type { AttachSpec } from "../attach/attach-spec.ts";
import { countRefused, giveBack } from "../attach/entry-limits.ts";
import { askerOf, kindOf } from "../attach/grant.ts";
import type { ResumeSigner } from "../attach/resume.ts";
import type { SessionAudit } from "../audit/session-audit.ts";
import { log } from "../base/log.ts";
import { type BridgeEnv, isAwake } from "../bridge/upstream.ts";
import type { AddressesEnv, TenantsEnv } from "../limits/limit-calls.ts";
import type { Counts } from "../metrics/counts.ts";
import { countRefusal } from "../metrics/refusal-counts.ts";
import type { SessionStore } from "../records/session-store.ts";
import type { LifeEnv } from "../refusal/life.ts";
import { type Refusal, refuseUpgrade, retryOf } from "../refusal/refusal.ts";
import { type Admission, admit, attachableOf, ticketRefusal } from "../session/admission.ts";
import { type Connections, RESTARTED } from "../session/connections.ts";
import type { SessionLifecycle } from "../session/lifecycle.ts";
import { noteAttached, noteSession } from "../session/stored-process.ts";
import type { Lifetimes } from "../sockets/lifetimes.ts";
import type { TtydProxy } from "../terminal/proxy.ts";
import type { SessionTickets } from "../tickets/session-tickets.ts";

export interface AttachingPorts {
  readonly env: BridgeEnv & AddressesEnv & LifeEnv & TenantsEnv;
  readonly store: SessionStore;
  readonly lifecycle: SessionLifecycle;
  readonly signer: ResumeSigner;
  readonly tickets: SessionTickets;
  readonly connections: Connections;
  readonly lifetimes: Lifetimes;
  readonly ttyds: TtydProxy;
  readonly counts: Counts;
  /** Absent if no audit is kept. */
  readonly audit: SessionAudit | undefined;
  /** Resolves when a session that is being forgotten is. */
  ending(): Promise<unknown>;
  waitUntil(promise: Promise<unknown>): void;
  /** A client was attached, or an attach has failed. */
  changed(): void;
}

export class Attaching {
  readonly #ports: AttachingPorts;
  #underWay = 0;

  constructor(ports: AttachingPorts) {
    this.#ports = ports;
  }

  /** Whether an attach is under way: the inner hop is kept for it. */
  get isUnderWay(): boolean {
    return this.#underWay > 0;
  }

  /** Answers one upgrade. @param signal Says that the client has gone. */
  async attach(spec: AttachSpec, signal: AbortSignal): Promise<Response> {
    const { store, lifecycle, signer, tickets, connections, ttyds } = this.#ports;
    this.#underWay += 1;
    try {
      await this.#ports.ending();
      const ticket = tickets.look(spec.who, store.record?.facts.incarnation, Date.now());
      if (ticket !== "good") return this.#refuse(spec, ticketRefusal(ticket));
      const use = () => tickets.use(spec.who, Date.now());
      if (spec.upstream === "ttyd") {
        if (!use()) return this.#refuse(spec, ticketRefusal("used"));
        const passed = spec.pass.noRoom ?? (await ttyds.attach(spec, signal));
        return passed instanceof Response ? passed : this.#refuse(spec, passed);
      }
      await lifecycle.makeWay(spec);
      const admission = await admit(spec, attachableOf(store.record, spec), signer);
      if ("code" in admission) return this.#refuse(spec, admission);
      // Only now: a ticket that opens nothing is not used, and nothing is stored of a session that never was.
      if (!use()) return this.#refuse(spec, ticketRefusal("used"));
      if (dialectNamed(spec.dialect).clientBegins === true) return this.#attachOnceBegun(spec, admission, signal);
      if (spec.refusal === "close") return this.#attachAccepted(spec, admission, signal);
      // A client that is refused by an HTTP status must be refused before its upgrade.
      const outcome = await lifecycle.ensure(spec, admission);
      if (!outcome.ok) return this.#refuse(spec, outcome.refusal);
      const [response, connection] = connections.accept(spec, signal);
      await this.#orDismiss(connection, this.#attach(connection, spec, admission, outcome.session));
      return response;
    } finally {
      this.#done(spec);
    }
  }

  #attachAccepted(spec: AttachSpec, admission: Admission, signal: AbortSignal): Response {
    const [response, connection] = this.#ports.connections.accept(spec, signal);
    this.#attachLater(connection, spec, admission);
    return response;
  }

  /** The size in the client's first message counts for the attach. */
  #attachOnceBegun(spec: AttachSpec, admission: Admission, signal: AbortSignal): Response {
    const begin = ({ size }: Begin): void => {
      const query = size === undefined ? spec.query : { ...spec.query, size };
      this.#attachLater(connection, { ...spec, query }, admission);
    };
    const [response, connection] = this.#ports.connections.accept(spec, signal, begin);
    return response;
  }

  #attachLater(connection: ServerConnection, spec: AttachSpec, admission: Admission): void {
    this.#ports.waitUntil(this.#orDismiss(connection, this.#ensureAndAttach(connection, spec, admission)));
  }

  async #ensureAndAttach(connection: ServerConnection, spec: AttachSpec, admission: Admission): Promise<void> {
    const { lifecycle } = this.#ports;
    this.#underWay += 1;
    try {
      await this.#ports.ending();
      if (lifecycle.session === undefined) this.#tellIfStarting(connection, spec);
      const outcome = await lifecycle.ensure(spec, admission);
      if (outcome.ok) await this.#attach(connection, spec, admission, outcome.session);
      else {
        const { code, message, retryAfterSeconds } = outcome.refusal;
        this.#noteRefused(spec, outcome.refusal);
        countRefusal(code);
        connection.bye(code, message, retryOf(outcome.refusal), retryAfterSeconds);
      }
    } finally {
      this.#done(spec);
    }
  }

  /** The bridge is asked meanwhile: that is a round trip less. */
  #tellIfStarting(connection: ServerConnection, { sandboxKey }: AttachSpec): void {
    const { env, waitUntil } = this.#ports;
    const tell = (isRunning: boolean): void => {
      const isWaiting = connection.client === undefined && !connection.isEnded;
      if (!isRunning && isWaiting) connection.send({ type: "status", status: "starting" });
    };
    // The client may attach even if the question fails: the bridge's answer counts.
    waitUntil(isAwake(env, sandboxKey).then(tell, () => undefined));
  }

  /** If attaching fails half way, the runtime goes on answering the client's pings: it would wait for ever. */
  async #orDismiss(connection: ServerConnection, attached: Promise<void>): Promise<void> {
    try {
      await attached;
    } catch (error) {
      log.error("a client could not be attached:", error);
      connection.dismiss(CLOSE.internal, "the session could not be reached", "after", "vanished");
      this.#ports.changed();
    }
  }

  async #attach(
    connection: ServerConnection,
    spec: AttachSpec,
    admission: Admission,
    session: RelaySession,
  ): Promise<void> {
    const { lifecycle, signer, tickets, audit, lifetimes, counts, store } = this.#ports;
    const { who, query } = spec;
    const { incarnation } = session.facts;
    const id = this.#idOf(spec, admission, session);
    const resume = await signer.make({ incarnation, client: id, subject: who.subject, role: query.role });
    // The process may be another than the one that was there when its ticket was looked at.
    const party = who.share && tickets.share(who.share.id, incarnation, Date.now());
    if (who.share !== undefined && party === undefined) {
      const { code, error, message } = ticketRefusal("revoked");
      audit?.note({ type: "refused", error, message }, undefined, spec.actor);
      connection.bye(code, message, "never");
      return;
    }
    if (lifecycle.session !== session) {
      connection.bye(RESTARTED.code, "the session was lost just now", "now");
      return;
    }
    const { acknowledges, canResume, holdsAlone, startsWithScreen } = connection.dialect;
    const name = query.name || who.name || `guest-${id.slice(0, 4)}`;
    const wish: AttachRequest = {
      ...{ id, resume, acknowledges, canResume, holdsAlone, startsWithScreen },
      name,
      role: query.role,
      kind: kindOf(who),
      isAdmin: who.isAdmin,
      delivery: query.delivery,
      isResume: admission.isResume,
      ...defined({ party }),
      // Guests of one link are several people under one subject.
      login: who.isGuest ? undefined : signer.loginId(askerOf(who), name),
      person: query.fit === "latest" && who.share === undefined ? signer.personId(who.subject) : undefined,
      mayUseKept: party === undefined && query.role === "driver",
      ...placeOf(query),
    };
    const undo = audit?.admitted(connection, id, spec.actor);
    const refused = connection.attach(session, wish);
    if (refused !== undefined) this.#ports.waitUntil(countRefused(this.#ports.env, spec.pass, refused.retry));
    if (connection.client === undefined) undo?.();
    else {
      noteAttached(store);
      counts.add("attaches");
      const { record } = store;
      const { request } = spec.pass;
      if (record !== undefined) noteSession(this.#ports.env, "client.attached", record, { request });
      if (admission.isResume) counts.add("resumes");
      // If it has just started the process: in the same turn as the process is stored, so in one transaction.
      if (record?.startedBy === spec.pass.connection) void audit?.flush();
    }
    lifetimes.tick(Date.now());
    this.#ports.changed();
  }

  /** With the id of a client that has left, a new one would be taken for it where its input is counted and recorded. */
  #idOf({ who, query }: AttachSpec, { id, isResume }: Admission, session: RelaySession): string {
    const hasLeft = !isResume && session.client(id) === undefined && session.gone.has(id);
    return hasLeft ? this.#ports.signer.newId(crypto.randomUUID(), who.subject, query.role) : id;
  }

  #refuse(spec: AttachSpec, refusal: Refusal): Response {
    this.#ports.waitUntil(giveBack(this.#ports.env, spec.pass));
    this.#noteRefused(spec, refusal);
    return refuseUpgrade(spec, refusal);
  }

  #noteRefused({ actor, pass }: AttachSpec, refusal: Refusal): void {
    const { env, audit, store, waitUntil } = this.#ports;
    audit?.refused(refusal, actor, store.record !== undefined);
    waitUntil(countRefused(env, pass, retryOf(refusal)));
  }

  #done({ who, pass }: AttachSpec): void {
    const { store, lifecycle, waitUntil, changed } = this.#ports;
    this.#underWay -= 1;
    const { record } = store;
    // The tenant has kept a place for a process that did not come to be, or has ended before.
    const hasProcess = record !== undefined && record.exit === undefined;
    const { homeKey, connection: startedBy } = pass;
    if (who.mayCreate && !hasProcess && this.#underWay === 0) waitUntil(lifecycle.processEnded({ homeKey, startedBy }));
    changed();
  }
}
