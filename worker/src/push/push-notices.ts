// A tenant's devices that are called when a program asks for a person, and calls that wait. Kept in the tenant's Durable Object,
// whose alarm delivers.

import { ASK_MS } from "sandbox-stdio/core";
import { fromBase64Url } from "../base/base64url.ts";
import { log } from "../base/log.ts";
import { webhookAddressFault } from "../webhooks/address.ts";
import { type Delivery, fateOf, nextDueMs, toDrop } from "../webhooks/queue.ts";
import { isLoopbackAllowed, type WebhookEnv } from "../webhooks/settings.ts";
import { type PushEnv, readPushSettings } from "./settings.ts";
import { pushRequest } from "./web-push.ts";

/** A browser's subscription, as it was given. */
export type Device = { readonly endpoint: string; readonly p256dh: string; readonly auth: string };
type KeptDevice = Device & { readonly user: string; readonly untilMs: number };
type Notice = Delivery & { readonly device: string };

export type PushNoticesEnv = PushEnv & WebhookEnv & { readonly PUBLIC_ORIGIN?: string };

/** A page that is opened now and then says it again. */
const DEVICE_MS = 30 * 24 * 3_600_000;
const MAX_DEVICES_EACH = 10;
const MAX_DEVICES = 500;
const PATIENCE_MS = 10_000;
const P256DH_BYTES = 65;
const AUTH_BYTES = 16;
const DEVICES = "push:";
const NOTICES = "notice:";

/** @returns Why this is no subscription that can be called; undefined: it is one. */
export function deviceFault({ endpoint, p256dh, auth }: Device, isLoopback: boolean): string | undefined {
  const fault = webhookAddressFault(endpoint, isLoopback);
  if (fault !== undefined) return fault.replace('"url"', '"endpoint"');
  if (fromBase64Url(p256dh)?.length !== P256DH_BYTES)
    return '"p256dh" must be 65 bytes in base64url, as the browser gives them';
  return fromBase64Url(auth)?.length === AUTH_BYTES ? undefined : '"auth" must be 16 bytes in base64url';
}

export class PushNotices {
  readonly #storage: DurableObjectStorage;
  readonly #env: PushNoticesEnv;

  constructor(storage: DurableObjectStorage, env: PushNoticesEnv) {
    this.#storage = storage;
    this.#env = env;
  }

  /** @returns Whether there was room. A person's oldest device makes way. */
  async add(user: string, device: Device, nowMs: number): Promise<boolean> {
    const key = await keyOf(device.endpoint);
    const others = [...(await this.#list<KeptDevice>(DEVICES))].filter(([other]) => other !== key);
    const own = others.filter(([, kept]) => kept.user === user).sort(([, a], [, b]) => a.untilMs - b.untilMs);
    const going = own.slice(0, Math.max(0, own.length + 1 - MAX_DEVICES_EACH)).map(([old]) => old);
    if (others.length - going.length >= MAX_DEVICES) return false;
    if (going.length > 0) await this.#storage.delete(going);
    await this.#storage.put(key, { ...device, user, untilMs: nowMs + DEVICE_MS } satisfies KeptDevice);
    return true;
  }

  /** @param endpoint Absent: all of this person's. */
  async remove(user: string, endpoint?: string): Promise<void> {
    for (const [key, kept] of await this.#list<KeptDevice>(DEVICES)) {
      if (kept.user === user && (endpoint ?? kept.endpoint) === kept.endpoint) await this.#storage.delete(key);
    }
  }

  /** Queues a call of every device. The text names the session, and nothing that was printed or typed there. */
  async call(session: { readonly sandbox: string; readonly session: string }, nowMs: number): Promise<void> {
    if (readPushSettings(this.#env) === undefined) return;
    const devices = [...(await this.#list<KeptDevice>(DEVICES)).keys()];
    const waiting = [...(await this.#list<Notice>(NOTICES)).values()];
    for (const { id } of devices.length === 0 ? [] : toDrop(waiting)) await this.#storage.delete(NOTICES + id);
    for (const device of devices) {
      const id = crypto.randomUUID();
      const notice = { id, device, body: JSON.stringify(session), madeAtMs: nowMs, attempts: 0, dueMs: nowMs };
      await this.#storage.put(NOTICES + id, notice satisfies Notice);
    }
  }

  /** When there is something to do; infinity for never. */
  async dueMs(): Promise<number> {
    return nextDueMs([...(await this.#list<Notice>(NOTICES)).values()]);
  }

  async deliver(nowMs: number): Promise<void> {
    const due = [...(await this.#list<Notice>(NOTICES)).values()].filter(({ dueMs }) => dueMs <= nowMs);
    await Promise.all(due.map((notice) => this.#deliver(notice, nowMs)));
  }

  async #deliver(notice: Notice, nowMs: number): Promise<void> {
    const device = await this.#storage.get<KeptDevice>(notice.device);
    const isLate = notice.madeAtMs + ASK_MS <= nowMs || (device?.untilMs ?? 0) <= nowMs;
    const status = device === undefined || isLate ? 410 : await this.#post(device, notice, nowMs);
    const fate = fateOf(notice, { status }, Date.now(), Math.random());
    if (fate.kind === "again") await this.#storage.put(NOTICES + notice.id, { ...notice, ...fate.delivery });
    else await this.#storage.delete(NOTICES + notice.id);
    // The browser has given it up, or has another by now.
    if ((status === 404 || status === 410) && !isLate) await this.#storage.delete(notice.device);
  }

  /** @returns The answer's status; undefined where none came. */
  async #post({ endpoint, p256dh, auth }: KeptDevice, { body, madeAtMs }: Notice, nowMs: number) {
    const settings = readPushSettings(this.#env);
    // The rule may have become stricter since it was given.
    if (settings === undefined || deviceFault({ endpoint, p256dh, auth }, isLoopbackAllowed(this.#env))) return 403;
    const none = new Uint8Array(0);
    const keys = { p256dh: fromBase64Url(p256dh) ?? none, auth: fromBase64Url(auth) ?? none };
    try {
      const ttlSeconds = Math.ceil((madeAtMs + ASK_MS - nowMs) / 1000);
      const request = await pushRequest({ endpoint, ...keys }, body, settings, ttlSeconds);
      const response = await fetch(endpoint, { ...request, signal: AbortSignal.timeout(PATIENCE_MS) });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      log.info("a push service did not answer:", error);
      return undefined;
    }
  }

  #list<T>(prefix: string): Promise<Map<string, T>> {
    return this.#storage.list<T>({ prefix });
  }
}

async function keyOf(endpoint: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  return DEVICES + Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
