// One Durable Object for each tenant: its revocations and their makers, how often its users try to attach, and which of its
// sessions live. One object, so that its counts are exact for every Worker.
//
// Nothing here is lent to a connection that could be lost with it: an attempt ends by itself, and where a limit is reached
// the sessions themselves are asked which of them live.

import { DurableObject } from "cloudflare:workers";
import { defined } from "sandbox-stdio/core";
import { type RecordingEnv, readRecordingSettings } from "../attach/recording-settings.ts";
import type { SessionsEnv } from "../attach/session-calls.ts";
import type { Actor, Deed, Place } from "../audit/record.ts";
import { type AuditEnv, readAuditSettings } from "../audit/settings.ts";
import { type AuditPage, AuditTrail } from "../audit/trail.ts";
import { DelayedWrites } from "../base/delayed-writes.ts";
import { log } from "../base/log.ts";
import { type KeptKind, type KeptLayout, LayoutStore } from "../layouts/layout-store.ts";
import { Arrivals } from "../limits/arrivals.ts";
import { countAttempt } from "../limits/attempts.ts";
import { CallCounter } from "../limits/call-counter.ts";
import type {
  AdmissionRequest,
  Attempt,
  PreviewUse,
  Resuming,
  TenantAnswer,
  TenantCalls,
} from "../limits/limit-calls.ts";
import { type LimitEnv, readLimits } from "../limits/limits.ts";
import { isRevoked, REVOCATION_KEEP_MS, type RevocableGrant, type Revocation } from "../limits/revocation.ts";
import { RevocationWaits } from "../limits/revocation-waits.ts";
import { type RecordingReport, TenantRecordings } from "../limits/tenant-recordings.ts";
import { UsedTickets } from "../limits/used-tickets.ts";
import { type Device, PushNotices, type PushNoticesEnv } from "../push/push-notices.ts";
import {
  type AttentionCall,
  AttentionWebhook,
  type WebhookSetting,
  type WebhookState,
} from "../webhooks/attention-webhook.ts";
import { isLoopbackAllowed, type WebhookEnv } from "../webhooks/settings.ts";

/** `sandbox`: its name. Absent in what an earlier version stored. */
type LiveSession = { readonly sandboxKey: string; readonly sandbox?: string; readonly sinceMs: number };

/** How many sessions are notified of a revocation in parallel. */
const TOLD_AT_ONCE = 100;
/** A session that was just let in may not have been reached yet. */
const ARRIVAL_MS = 10_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

type TenantEnv = AuditEnv & LimitEnv & RecordingEnv & SessionsEnv & WebhookEnv & PushNoticesEnv;

export class TenantObject extends DurableObject<TenantEnv> implements TenantCalls {
  readonly #attempts = new Map<string, number>();
  #attemptsSweptMs = 0;
  /** API calls, in memory only: reading stores nothing. */
  readonly #calls = new CallCounter();
  /** Sessions that were made and have not ended, as far as is known. */
  readonly #live = new Map<string, LiveSession>();
  /** Sandboxes that were made by the sandbox API (V2), and when. */
  readonly #made = new Map<string, number>();
  /** Sessions with connections that rest on this tenant's tokens, and until when they may. */
  readonly #visited = new Map<string, number>();
  readonly #arrivals = new Arrivals();
  readonly #revocations = new Map<string, Revocation>();
  /** All but revocations: lost with a crash, a count is a little low, until its session is attached to again. */
  readonly #writes: DelayedWrites;
  /** The record of events that concern the tenant, and no one session. */
  readonly #trail: AuditTrail;
  readonly #webhook: AttentionWebhook;
  readonly #push: PushNotices;
  readonly #used: UsedTickets;
  readonly #waits = new RevocationWaits();
  readonly #recordings: TenantRecordings;
  readonly #kept: Readonly<Record<KeptKind, LayoutStore>>;

  constructor(ctx: DurableObjectState, env: TenantEnv) {
    super(ctx, env);
    this.#trail = new AuditTrail(ctx.storage);
    this.#webhook = new AttentionWebhook(ctx.storage, () => isLoopbackAllowed(env));
    this.#push = new PushNotices(ctx.storage, env);
    this.#kept = { layouts: new LayoutStore(ctx.storage), preferences: new LayoutStore(ctx.storage, "preferences") };
    this.#used = new UsedTickets(ctx.storage);
    this.#recordings = new TenantRecordings(ctx.storage);
    this.#writes = new DelayedWrites(ctx.storage);
    void ctx.blockConcurrencyWhile(() => this.#load());
  }

  /** Whether the caller may call the API; counts the call. @param caller Among whose calls it is counted. */
  call(caller: string, grant: RevocableGrant): TenantAnswer {
    const now = Date.now();
    const retryAfterSeconds = this.#calls.count(caller, now, readLimits(this.env).callsPerMinute);
    if (retryAfterSeconds !== undefined) return { kind: "too_many", retryAfterSeconds };
    return this.#isRevoked(grant, now) ? { kind: "revoked" } : { kind: "admitted" };
  }

  /** Whether the client may try to attach; counts the attempt. Takes no place, and notes nothing of the session. */
  attempted({ attempt, grant }: Attempt): TenantAnswer {
    const now = Date.now();
    const isRevoked = this.#isRevoked(grant, now);
    // Counted apart, since a revoked token may be in other hands: they do not use up its user's attempts.
    const refusal = isRevoked
      ? this.#count(`revoked ${attempt.user}`, now)
      : "client" in attempt
        ? this.#look(refusedKey(attempt), now)
        : this.#count(attempt.user, now);
    return refusal ?? { kind: isRevoked ? "revoked" : "admitted" };
  }

  /** Whether the client may attach; counts the attempt if that was not done, and takes a place for the session if there is one. */
  async admit(request: AdmissionRequest): Promise<TenantAnswer> {
    const { attempt, grant, sessionKey, sandboxKey, sandbox } = request;
    const now = Date.now();
    if (attempt !== undefined) {
      const answer = this.attempted({ attempt, grant });
      if (answer.kind !== "admitted") return answer;
    } else if (this.#isRevoked(grant, now)) return { kind: "revoked" };
    this.#arrivals.came(sessionKey, request.connection, now);
    this.#visit(sessionKey, request.untilMs);
    if (sandboxKey === undefined || this.#live.has(sessionKey)) return { kind: "admitted" };
    if (this.#fullness(sandboxKey) !== undefined) await this.#forgetEnded(sandboxKey);
    const noRoom = this.#fullness(sandboxKey);
    if (noRoom !== undefined) return { kind: "admitted", noRoom };
    const live = { sandboxKey, sinceMs: now, ...defined({ sandbox }) };
    this.#live.set(sessionKey, live);
    this.#writes.put(`live:${sessionKey}`, live);
    return { kind: "admitted" };
  }

  /** A client that was let in as one that comes back could not: that was an attempt after all, and as such others of its. */
  resumeRefused(resuming: Resuming): void {
    const now = Date.now();
    this.#count(resuming.user, now);
    this.#count(refusedKey(resuming), now);
  }

  sandboxes(): string[] {
    return [...new Set([...this.#live.values()].flatMap(({ sandbox = [] }) => sandbox))].sort();
  }

  async makeSandbox(sandboxKey: string): Promise<boolean> {
    if (this.#fullness(sandboxKey) === "sandboxes") await this.#forgetEnded(sandboxKey);
    if (this.#fullness(sandboxKey) === "sandboxes") return false;
    const now = Date.now();
    this.#made.set(sandboxKey, now);
    await this.ctx.storage.put(`made:${sandboxKey}`, now);
    return true;
  }

  hasMadeSandbox(sandboxKey: string): boolean {
    return this.#made.has(sandboxKey);
  }

  async deleteSandbox(sandboxKey: string): Promise<void> {
    this.#made.delete(sandboxKey);
    await this.ctx.storage.delete(`made:${sandboxKey}`);
  }

  noteFile(deed: Extract<Deed, { type: "file" }>, by: Actor, sandbox: string): Promise<void> {
    return this.#record(deed, Date.now(), { ...by, sandbox });
  }

  /** Whether a fresh token may take an older one's place; `untilMs` is when it ends. */
  renew(grant: RevocableGrant, sessionKey: string, untilMs: number): boolean {
    if (this.#isRevoked(grant, Date.now())) return false;
    this.#visit(sessionKey, untilMs);
    return true;
  }

  /** A session has ended, or was not made after all. */
  ended(sessionKey: string, startedBy?: string): void {
    if (this.#live.delete(sessionKey)) this.#writes.delete(`live:${sessionKey}`);
    // A connection may read on for a while. Revocations need not wake all that a busy tenant has made in a day.
    const now = Date.now();
    const untilMs = now + HOUR_MS;
    if (this.#arrivals.mayHaveBegunAgain(sessionKey, startedBy, now)) return;
    if ((this.#visited.get(sessionKey) ?? 0) <= untilMs) return;
    this.#visited.set(sessionKey, untilMs);
    this.#writes.put(`visited:${sessionKey}`, untilMs);
  }

  /** Revokes a user, a token or a login, and has every session end what rests on it. Stored and on record before sessions hear. */
  async revoke(what: Omit<Revocation, "atMs">, by: Actor): Promise<void> {
    const revocation: Revocation = { ...what, atMs: Date.now() };
    const key = keyOf(revocation);
    this.#revocations.set(key, revocation);
    await this.ctx.storage.put(`revoked:${key}`, revocation);
    await this.#record(deedOf(revocation.kind, revocation.value), revocation.atMs, by);
    this.#waits.tell(revocation);
    if (revocation.kind === "sub") await this.#push.remove(revocation.value);
    const sessions = [...new Set([...this.#visited.keys(), ...this.#live.keys()])];
    const missed = await this.#tell(revocation, sessions);
    // An object that was restarted meanwhile; the others have heard.
    const stillMissed = await this.#tell(revocation, missed);
    if (stillMissed.length > 0) throw new Error(`${stillMissed.length} sessions could not be told of a revocation`);
  }

  /** @returns Those that could not be told. */
  async #tell(revocation: Revocation, sessions: readonly string[]): Promise<string[]> {
    const by = this.ctx.id.name ?? "";
    const missed: string[] = [];
    const waiting = sessions.values();
    const tellOneByOne = async () => {
      for (const key of waiting) {
        await this.env.SESSION.getByName(key)
          .revoked(revocation, by)
          .catch((error: unknown) => {
            log.warn("a session could not be told of a revocation:", error);
            missed.push(key);
          });
      }
    };
    // A slow session delays only the later ones in its row.
    await Promise.all(Array.from({ length: TOLD_AT_ONCE }, tellOneByOne));
    return missed;
  }

  async untilRevoked(grant: RevocableGrant, ms: number): Promise<boolean> {
    return this.#isRevoked(grant, Date.now()) || this.#waits.wait(grant, ms);
  }

  async usePreview({ id, untilMs, sandbox, port }: PreviewUse, by: Actor): Promise<boolean> {
    const now = Date.now();
    if (!(await this.#used.use(id, untilMs, now))) return false;
    await this.#record({ type: "preview", port }, now, { ...by, sandbox });
    return true;
  }

  async setWebhook(setting: WebhookSetting | undefined, by: Actor): Promise<void> {
    await this.#webhook.set(setting);
    await this.#record({ type: "webhook", url: setting?.url ?? "" }, Date.now(), by);
  }

  webhook(): Promise<WebhookState> {
    return this.#webhook.state();
  }

  async attend(call: AttentionCall): Promise<boolean> {
    const isOn = await this.#webhook.call(call, Date.now());
    if (isOn) await this.#setAlarm();
    return isOn;
  }

  askPeople(session: { readonly sandbox: string; readonly session: string }): Promise<void> {
    return this.#push.call(session, Date.now());
  }

  addDevice(user: string, device: Device): Promise<boolean> {
    return this.#push.add(user, device, Date.now());
  }

  removeDevice(user: string, endpoint: string): Promise<void> {
    return this.#push.remove(user, endpoint);
  }

  keptText(kind: KeptKind, user: string): KeptLayout {
    return this.#kept[kind].read(user);
  }

  keepText(kind: KeptKind, user: string, text: string, base?: number): { isKept: boolean; kept: KeptLayout } {
    return this.#kept[kind].keep(user, text, base, Date.now());
  }

  async recorded(report: RecordingReport): Promise<boolean> {
    this.#recordings.note(report);
    const { mode, maxBytes } = readRecordingSettings(this.env);
    // Without a bucket each session has separate space.
    if (this.env.RECORDINGS === undefined || mode === "off") return false;
    for (const { report: oldest, bytes } of this.#recordings.excess(maxBytes)) {
      const went = await this.env.SESSION.getByName(oldest.sessionKey).shrinkRecording(oldest.incarnation, bytes);
      this.#recordings.note({ ...oldest, bytes: Math.max(0, oldest.bytes - went) });
    }
    return this.#recordings.bytes > maxBytes;
  }

  async removeRecordingsOf(user: string, by: Actor): Promise<number> {
    let count = 0;
    for (const { sessionKey, incarnation } of this.#recordings.of(user)) {
      const removal = await this.env.SESSION.getByName(sessionKey).removeRecordings(incarnation, by, true);
      if (removal.kind === "done") count += removal.count;
    }
    await this.#record({ type: "recordings_removed", sub: user, count }, Date.now(), by);
    return count;
  }

  /** A page of the tenant's audit. */
  audit(after: number, limit: number): AuditPage {
    return this.#trail.read(after, limit);
  }

  override async alarm(): Promise<void> {
    const { retentionMs } = readAuditSettings(this.env);
    this.#trail.deleteBefore(new Date(Date.now() - retentionMs).toISOString());
    await this.#webhook.deliver(Date.now());
    await this.#setAlarm();
  }

  async #record(deed: Deed, atMs: number, by: Actor & Partial<Place>): Promise<void> {
    if (readAuditSettings(this.env).mode === "off") return;
    await this.#trail.append([{ time: new Date(atMs).toISOString(), ...by, ...deed }], new Map());
    if ((await this.ctx.storage.getAlarm()) === null) await this.#setAlarm();
  }

  /** Wakes this object when records are due for deletion, or a receiver is due to be called. */
  async #setAlarm(): Promise<void> {
    const deletionMs = this.#trail.deletionDueMs(readAuditSettings(this.env).retentionMs, Date.now());
    const dueMs = Math.min(deletionMs ?? Number.POSITIVE_INFINITY, await this.#webhook.dueMs());
    if (dueMs !== Number.POSITIVE_INFINITY) await this.ctx.storage.setAlarm(dueMs);
  }

  /** Counts an attempt, where there is room for one. */
  #count(key: string, nowMs: number): TenantAnswer | undefined {
    this.#forgetPast(nowMs);
    const counted = countAttempt(this.#attempts.get(key) ?? 0, nowMs, readLimits(this.env).attaches);
    this.#attempts.set(key, counted.fullAtMs);
    if (!counted.ok) return { kind: "too_many", retryAfterSeconds: counted.retryAfterSeconds };
    this.#writes.put(`bucket:${key}`, counted.fullAtMs);
    return undefined;
  }

  /** Whether there is room for an attempt. */
  #look(key: string, nowMs: number): TenantAnswer | undefined {
    const counted = countAttempt(this.#attempts.get(key) ?? 0, nowMs, readLimits(this.env).attaches);
    if (!counted.ok) this.#attempts.set(key, counted.fullAtMs);
    return counted.ok ? undefined : { kind: "too_many", retryAfterSeconds: counted.retryAfterSeconds };
  }

  /** Attempts that count no more, and visits that are over: once a minute. */
  #forgetPast(nowMs: number): void {
    if (nowMs < this.#attemptsSweptMs + MINUTE_MS) return;
    this.#attemptsSweptMs = nowMs;
    for (const [key, fullAtMs] of this.#attempts) {
      if (fullAtMs > nowMs) continue;
      this.#attempts.delete(key);
      this.#writes.delete(`bucket:${key}`);
    }
    for (const [key, until] of this.#visited) {
      if (until > nowMs) continue;
      this.#visited.delete(key);
      this.#arrivals.forget(key);
      this.#writes.delete(`visited:${key}`);
    }
  }

  #isRevoked(grant: RevocableGrant, nowMs: number): boolean {
    return isRevoked(grant, (kind, value) => this.#revocations.get(keyOf({ kind, value })), nowMs);
  }

  #fullness(sandboxKey: string): "sandboxes" | "sessions" | undefined {
    const { sandboxes, sessions } = readLimits(this.env);
    const counts = new Map([...this.#made.keys()].map((key) => [key, 0]));
    for (const live of this.#live.values()) counts.set(live.sandboxKey, (counts.get(live.sandboxKey) ?? 0) + 1);
    const count = counts.get(sandboxKey);
    if (count === undefined) return counts.size >= sandboxes ? "sandboxes" : undefined;
    return count >= sessions ? "sessions" : undefined;
  }

  /** Asks the sessions that take up the room whether they live: of this sandbox, or, where it is new, of all. */
  async #forgetEnded(sandboxKey: string): Promise<void> {
    const isKnown = [...this.#live.values()].some((live) => live.sandboxKey === sandboxKey);
    const now = Date.now();
    const asked = [...this.#live].filter(
      ([, live]) => (!isKnown || live.sandboxKey === sandboxKey) && live.sinceMs + ARRIVAL_MS <= now,
    );
    await Promise.all(
      asked.map(async ([key, live]) => {
        const isAlive = await this.env.SESSION.getByName(key).isAlive();
        if (!isAlive && this.#live.get(key) === live) this.ended(key);
      }),
    );
  }

  #visit(sessionKey: string, untilMs: number): void {
    // In whole hours: most attaches then change nothing.
    const until = Math.ceil(untilMs / HOUR_MS) * HOUR_MS;
    if (until <= (this.#visited.get(sessionKey) ?? 0)) return;
    this.#visited.set(sessionKey, until);
    this.#writes.put(`visited:${sessionKey}`, until);
  }

  /** Reads the stored state, and deletes the parts that have run out. */
  async #load(): Promise<void> {
    const now = Date.now();
    const stale: string[] = [];
    // Each kind of key has one kind of value, which only this class has written.
    const read = async <T>(prefix: string, into: Map<string, T>, isStale: (value: T) => boolean): Promise<void> => {
      for (const [key, value] of await this.ctx.storage.list<T>({ prefix })) {
        if (isStale(value)) stale.push(key);
        else into.set(key.slice(prefix.length), value);
      }
    };
    await read("bucket:", this.#attempts, (fullAtMs) => fullAtMs <= now);
    // Deletes the times of attempts that an older version stored, perhaps during a rollback.
    await read("attempts:", new Map<string, unknown>(), () => true);
    await read("live:", this.#live, () => false);
    await read("made:", this.#made, () => false);
    await read("visited:", this.#visited, (until) => until <= now);
    await read("revoked:", this.#revocations, ({ atMs, untilMs = atMs + REVOCATION_KEEP_MS }) => untilMs <= now);
    for (let i = 0; i < stale.length; i += 128) await this.ctx.storage.delete(stale.slice(i, i + 128));
  }
}

function refusedKey({ user, client }: Resuming): string {
  return `refused ${user} ${client}`;
}

function deedOf(kind: Revocation["kind"], value: string): Deed {
  if (kind === "login") return { type: "logout" };
  return kind === "sub" ? { type: "revoke", sub: value } : { type: "revoke", jti: value };
}

function keyOf({ kind, value }: Pick<Revocation, "kind" | "value">): string {
  return `${kind}:${value}`;
}
