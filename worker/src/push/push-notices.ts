// A tenant's devices that are called when a program asks for a person. Kept in the tenant's Durable Object.

import { importJWK, SignJWT } from "jose";
import { ASK_MS } from "sandbox-stdio/core";
import { fromBase64Url, toBase64Url } from "../base/base64url.ts";
import { log } from "../base/log.ts";
import { webhookAddressFault } from "../webhooks/address.ts";
import { isLoopbackAllowed, type WebhookEnv } from "../webhooks/settings.ts";
import { PUBLIC_KEY_BYTES, type PushEnv, type PushSettings, readPushSettings } from "./settings.ts";

/** A browser's subscription, as it was given. */
export type Device = { readonly endpoint: string; readonly p256dh: string; readonly auth: string };
type KeptDevice = Device & { readonly user: string; readonly untilMs: number };

export type PushNoticesEnv = PushEnv & WebhookEnv;

/** A page that is opened says it again. */
const DEVICE_MS = 30 * 24 * 3_600_000;
const MAX_DEVICES_EACH = 10;
const MAX_DEVICES = 500;
const PATIENCE_MS = 10_000;
const AUTH_BYTES = 16;
const DEVICES = "push:";

/** @returns The subscription that this is, or why it can't be called. */
export function subscriptionOf({ endpoint, p256dh, auth }: Device, env: WebhookEnv): Subscription | string {
  const fault = webhookAddressFault(endpoint, isLoopbackAllowed(env));
  if (fault !== undefined) return fault.replace('"url"', '"endpoint"');
  const [key, secret] = [fromBase64Url(p256dh), fromBase64Url(auth)];
  const isWhole = key?.length === PUBLIC_KEY_BYTES && secret?.length === AUTH_BYTES;
  return isWhole ? { endpoint, p256dh: key, auth: secret } : '"p256dh" has 65 bytes and "auth" 16, in base64url';
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
    await this.remove(user, device.endpoint);
    const others = await this.#devices();
    const own = others.filter(([, kept]) => kept.user === user).sort(([, a], [, b]) => a.untilMs - b.untilMs);
    const [oldest] = own.length < MAX_DEVICES_EACH ? [] : own;
    if (oldest !== undefined) await this.#storage.delete(oldest[0]);
    else if (others.length >= MAX_DEVICES) return false;
    await this.#storage.put<KeptDevice>(DEVICES + crypto.randomUUID(), { ...device, user, untilMs: nowMs + DEVICE_MS });
    return true;
  }

  /** @param endpoint Absent: all of this person's. */
  async remove(user: string, endpoint?: string): Promise<void> {
    const going = (await this.#devices()).filter(
      ([, kept]) => kept.user === user && (endpoint ?? kept.endpoint) === kept.endpoint,
    );
    await this.#storage.delete(going.map(([key]) => key));
  }

  /** Calls every device. The text names the session, and nothing that was printed or typed there. */
  async call(session: { readonly sandbox: string; readonly session: string }, nowMs: number): Promise<void> {
    const calls = (await this.#devices()).map(async ([key, device]) => {
      const status = device.untilMs <= nowMs ? 410 : await this.#post(device, JSON.stringify(session));
      // The browser has given it up, or has another by now.
      if (status === 404 || status === 410) await this.#storage.delete(key);
    });
    await Promise.all(calls);
  }

  /** @returns The answer's status; undefined where none came. */
  async #post(device: Device, text: string): Promise<number | undefined> {
    const settings = readPushSettings(this.#env);
    // The rule may have become stricter since it was given.
    const subscription = subscriptionOf(device, this.#env);
    if (settings === undefined || typeof subscription === "string") return undefined;
    try {
      const request = await pushRequest(subscription, text, settings, ASK_MS / 1000);
      const response = await fetch(device.endpoint, { ...request, signal: AbortSignal.timeout(PATIENCE_MS) });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      log.info("a push service did not answer:", error);
      return undefined;
    }
  }

  async #devices(): Promise<[string, KeptDevice][]> {
    return [...(await this.#storage.list<KeptDevice>({ prefix: DEVICES }))];
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** As the browser gave it. */
type Subscription = { readonly endpoint: string; readonly p256dh: Bytes; readonly auth: Bytes };

const RECORD_BYTES = 4_096;
/** Behind the content of the only record. */
const LAST_RECORD = Uint8Array.of(2);
const ECDH = { name: "ECDH", namedCurve: "P-256" } as const;

const utf8 = (text: string): Bytes => Uint8Array.from(new TextEncoder().encode(text));
const joined = (...parts: readonly Uint8Array[]): Bytes => Uint8Array.from(parts.flatMap((part) => [...part]));

/**
 * The request of one notice to one device's push service: encrypted for the browser alone (RFC 8291, one record of RFC 8188), and
 * signed with this server's key (RFC 8292).
 */
async function pushRequest(
  subscription: Subscription,
  text: string,
  { key, publicKey, subject }: PushSettings,
  ttlSeconds: number,
): Promise<RequestInit> {
  const claims = new SignJWT({ sub: subject }).setProtectedHeader({ alg: "ES256", typ: "JWT" });
  claims.setAudience(new URL(subscription.endpoint).origin).setExpirationTime("12h");
  const token = await claims.sign(await importJWK({ ...key, kty: "EC" }, "ES256"));
  const headers = {
    Authorization: `vapid t=${token}, k=${toBase64Url(publicKey)}`,
    "Content-Encoding": "aes128gcm",
    TTL: String(ttlSeconds),
    Urgency: "high",
  };
  return { method: "POST", headers, body: await encrypted(subscription, utf8(text)), redirect: "manual" };
}

async function encrypted({ p256dh, auth }: Subscription, content: Bytes): Promise<Bytes> {
  const own = (await crypto.subtle.generateKey(ECDH, true, ["deriveBits"])) as CryptoKeyPair;
  const ownPublic = new Uint8Array((await crypto.subtle.exportKey("raw", own.publicKey)) as ArrayBuffer);
  const theirs = await crypto.subtle.importKey("raw", p256dh, ECDH, false, []);
  // The types of workerd say `$public` for what every runtime calls `public`.
  const exchange = { name: "ECDH", public: theirs } as unknown as SubtleCryptoDeriveKeyAlgorithm;
  const shared = new Uint8Array(await crypto.subtle.deriveBits(exchange, own.privateKey, 256));
  const material = await derived(shared, auth, joined(utf8("WebPush: info\0"), p256dh, ownPublic), 32);
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const contentKey = await derived(material, salt, utf8("Content-Encoding: aes128gcm\0"), 16);
  const iv = await derived(material, salt, utf8("Content-Encoding: nonce\0"), 12);
  const cipher = await crypto.subtle.importKey("raw", contentKey, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, cipher, joined(content, LAST_RECORD));
  const head = new DataView(new ArrayBuffer(5));
  head.setUint32(0, RECORD_BYTES);
  head.setUint8(4, ownPublic.length);
  return joined(salt, new Uint8Array(head.buffer), ownPublic, new Uint8Array(sealed));
}

async function derived(secret: Bytes, salt: Bytes, info: Bytes, length: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, length * 8));
}
