// A tenant's webhook: the address for calls for attention, and calls that wait. Kept in the tenant's Durable Object, whose alarm
// delivers, so that nothing is lost when it leaves memory.

import { defined } from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";
import { log } from "../base/log.ts";
import { webhookAddressFault } from "./address.ts";

export type WebhookSetting = { readonly url: string; readonly secret: string };

/** The state of the webhook for an admin. */
export type WebhookState = {
  readonly url: string | null;
  /** Deliveries that wait. */
  readonly waiting?: number;
  readonly last?: LastDelivery;
};

type LastDelivery = {
  readonly at: string;
  readonly outcome: "delivered" | "again" | "given_up" | "dropped";
  readonly status?: number;
};

/** A call for attention, and where it came from. */
export type AttentionCall = Attention & {
  readonly sandbox: string;
  readonly session: string;
  readonly incarnation: string;
};

const PATIENCE_MS = 10_000;
/** Sent at once; the others follow right after. */
const SIDE_BY_SIDE = 8;
const SETTING = "webhook";
const LAST = "webhook last";
const QUEUE = "delivery:";

export class AttentionWebhook {
  readonly #storage: DurableObjectStorage;
  readonly #isLoopbackAllowed: () => boolean;

  constructor(storage: DurableObjectStorage, isLoopbackAllowed: () => boolean) {
    this.#storage = storage;
    this.#isLoopbackAllowed = isLoopbackAllowed;
  }

  /** @param setting Undefined: switched off. Deliveries that wait for the old address are dropped. */
  async set(setting: WebhookSetting | undefined): Promise<void> {
    const waiting = await this.#queue();
    for (const { id } of waiting) await this.#storage.delete(QUEUE + id);
    await this.#storage.delete(LAST);
    if (setting === undefined) await this.#storage.delete(SETTING);
    else await this.#storage.put(SETTING, setting);
  }

  async state(): Promise<WebhookState> {
    const setting = await this.#storage.get<WebhookSetting>(SETTING);
    if (setting === undefined) return { url: null };
    const last = await this.#storage.get<LastDelivery>(LAST);
    return { url: setting.url, waiting: (await this.#queue()).length, ...defined({ last }) };
  }

  /** Queues a call. @returns Whether there is a receiver. */
  async call(
    { kind, title, body, offset, sandbox, session, incarnation }: AttentionCall,
    nowMs: number,
  ): Promise<boolean> {
    if ((await this.#storage.get<WebhookSetting>(SETTING)) === undefined) return false;
    for (const { id } of toDrop(await this.#queue())) {
      await this.#storage.delete(QUEUE + id);
      await this.#note("dropped", undefined, nowMs);
    }
    const id = crypto.randomUUID();
    const what = { kind, ...defined({ title }), ...defined({ body }), offset };
    const said = { type: "attention", id, at: new Date(nowMs).toISOString(), sandbox, session, incarnation, ...what };
    const delivery: Delivery = { id, body: JSON.stringify(said), madeAtMs: nowMs, attempts: 0, dueMs: nowMs };
    await this.#storage.put(QUEUE + id, delivery);
    return true;
  }

  /** When there is something to do; infinity for never. */
  async dueMs(): Promise<number> {
    return nextDueMs(await this.#queue());
  }

  /** Delivers the calls that are due. */
  async deliver(nowMs: number): Promise<void> {
    const due = (await this.#queue()).filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.madeAtMs - b.madeAtMs);
    await Promise.all(due.slice(0, SIDE_BY_SIDE).map((delivery) => this.#deliverOne(delivery)));
  }

  async #deliverOne(delivery: Delivery): Promise<void> {
    const setting = await this.#storage.get<WebhookSetting>(SETTING);
    const status = setting === undefined ? undefined : await this.#post(setting, delivery);
    const nowMs = Date.now();
    // Meanwhile the webhook may have been turned off, or the delivery dropped.
    if ((await this.#storage.get(QUEUE + delivery.id)) === undefined) return;
    const fate = fateOf(delivery, { status }, nowMs, Math.random());
    if (fate.kind === "again") await this.#storage.put(QUEUE + delivery.id, fate.delivery);
    else await this.#storage.delete(QUEUE + delivery.id);
    await this.#note(fate.kind, status, nowMs);
  }

  /** @returns The answer's status; undefined where none came. */
  async #post({ url, secret }: WebhookSetting, { id, body }: Delivery): Promise<number | undefined> {
    // The rule may have become stricter since it was set.
    if (webhookAddressFault(url, this.#isLoopbackAllowed()) !== undefined) return 403;
    const atSeconds = Math.floor(Date.now() / 1000);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "User-Agent": "sbx-stdio",
          [HEADERS.id]: id,
          [HEADERS.time]: String(atSeconds),
          [HEADERS.signature]: await signature(secret, atSeconds, body),
        },
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      log.info("a webhook's receiver did not answer:", error);
      return undefined;
    }
  }

  async #note(outcome: LastDelivery["outcome"], status: number | undefined, nowMs: number): Promise<void> {
    const last: LastDelivery = {
      at: new Date(nowMs).toISOString(),
      outcome,
      ...defined({ status }),
    };
    await this.#storage.put(LAST, last);
  }

  async #queue(): Promise<readonly Delivery[]> {
    return [...(await this.#storage.list<Delivery>({ prefix: QUEUE })).values()];
  }
}

const HEADERS = {
  id: "X-Stdio-Delivery",
  time: "X-Stdio-Timestamp",
  signature: "X-Stdio-Signature",
} as const;

/** @param atSeconds Unix time. @returns `v1=HEX`, over `SECONDS.BODY`. */
export async function signature(secret: string, atSeconds: number, body: string): Promise<string> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(secret), algorithm, false, ["sign"]);
  const signed = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(`${atSeconds}.${body}`)));
  return `v1=${Array.from(signed, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** One call for attention, on its way to its tenant's receiver. */
export type Delivery = {
  readonly id: string;
  /** The body of the request: JSON. */
  readonly body: string;
  readonly madeAtMs: number;
  readonly attempts: number;
  readonly dueMs: number;
};

/** A status, or undefined where no answer came. */
type Outcome = { readonly status: number | undefined };

type Fate =
  | { readonly kind: "delivered" }
  | { readonly kind: "again"; readonly delivery: Delivery }
  | { readonly kind: "given_up" };

/** Most deliveries of one tenant. Beyond it the oldest is dropped, since the newest matters most. */
export const MAX_DELIVERIES = 256;
/** After about an hour and a half: a later call is of no help. */
export const MAX_ATTEMPTS = 10;
const FIRST_RETRY_MS = 5_000;
const MOST_RETRY_MS = 30 * 60_000;
/** Statuses below 500 that pass: too slow, too early, too many. */
const PASSING = [408, 425, 429];

/** @returns Those to drop so that one more has room. */
export function toDrop(queued: readonly Delivery[]): readonly Delivery[] {
  const excess = queued.length + 1 - MAX_DELIVERIES;
  return excess <= 0 ? [] : [...queued].sort((a, b) => a.madeAtMs - b.madeAtMs).slice(0, excess);
}

/** @param chance From 0 to 1: receivers that come back are not met by everything at once. */
export function fateOf(delivery: Delivery, { status }: Outcome, nowMs: number, chance: number): Fate {
  if (status !== undefined && status >= 200 && status < 300) return { kind: "delivered" };
  const attempts = delivery.attempts + 1;
  // A redirect is not followed: it could lead where the address itself may not. It would say the same again.
  const passes = status === undefined || status >= 500 || PASSING.includes(status);
  if (!passes || attempts >= MAX_ATTEMPTS) return { kind: "given_up" };
  const most = Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** (attempts - 1));
  return { kind: "again", delivery: { ...delivery, attempts, dueMs: nowMs + most * (0.5 + chance / 2) } };
}

/** When there is something to do; infinity for never. */
export function nextDueMs(queued: readonly Delivery[]): number {
  return queued.reduce((next, { dueMs }) => Math.min(next, dueMs), Number.POSITIVE_INFINITY);
}
