// A tenant's webhook: the address for calls for attention, and calls that wait. Kept in the tenant's Durable Object, whose alarm
// delivers, so that nothing is lost when it leaves memory.

import { defined } from "sandbox-stdio/core";
import type { Attention } from "sandbox-stdio/programs";
import { log } from "../base/log.ts";
import { webhookAddressFault } from "./address.ts";
import { type Delivery, fateOf, nextDueMs, toDrop } from "./queue.ts";
import { HEADERS, signature } from "./signature.ts";

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
    // It may have been switched off, or the delivery dropped, meanwhile.
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
