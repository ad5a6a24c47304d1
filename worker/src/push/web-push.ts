// One notice to one device, as its push service takes it: encrypted for the browser alone (RFC 8291, one record of RFC 8188), and
// signed with this server's key (RFC 8292).

import { importJWK, SignJWT } from "jose";
import { toBase64Url } from "../base/base64url.ts";
import type { PushSettings } from "./settings.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** As the browser gave it. */
export type Subscription = { readonly endpoint: string; readonly p256dh: Bytes; readonly auth: Bytes };

const RECORD_BYTES = 4_096;
/** Behind the content of the only record. */
const LAST_RECORD = Uint8Array.of(2);
const ECDH = { name: "ECDH", namedCurve: "P-256" } as const;

const utf8 = (text: string): Bytes => Uint8Array.from(new TextEncoder().encode(text));
const joined = (...parts: readonly Uint8Array[]): Bytes => Uint8Array.from(parts.flatMap((part) => [...part]));

export async function pushRequest(
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
