// The variables that concern push notices.

import { fromBase64Url } from "../base/base64url.ts";
import { AuthFault } from "../refusal/fault.ts";

export interface PushEnv {
  /** The key that push services know this server by: a private P-256 key, as a JWK. Default: none, no device is called. */
  readonly VAPID_KEY?: string;
  /** A `mailto:` or `https:` address of the operator's, for push services. Default: `PUBLIC_ORIGIN`. */
  readonly VAPID_SUBJECT?: string;
  readonly PUBLIC_ORIGIN?: string;
}

/** `publicKey` is uncompressed, as browsers subscribe with it. */
export type PushSettings = {
  readonly key: JsonWebKey;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly subject: string;
};

export const PUBLIC_KEY_BYTES = 65;

/** @returns undefined if there is no key. @throws {AuthFault} `misconfigured`. */
export function readPushSettings({ VAPID_KEY, VAPID_SUBJECT, PUBLIC_ORIGIN }: PushEnv): PushSettings | undefined {
  if (!VAPID_KEY) return undefined;
  const fault = () => new AuthFault("misconfigured", "This server is not set up: VAPID_KEY must be a P-256 JWK");
  try {
    const key = JSON.parse(VAPID_KEY) as JsonWebKey;
    const [x = [], y = []] = [key.x, key.y].map((part = "") => fromBase64Url(part));
    const publicKey = Uint8Array.of(4, ...x, ...y);
    if (publicKey.length !== PUBLIC_KEY_BYTES || !key.d) throw fault();
    // Push services take no plain HTTP for an address of the operator's.
    return { key, publicKey, subject: VAPID_SUBJECT || (PUBLIC_ORIGIN ?? "").replace(/^http:/, "https:") };
  } catch {
    throw fault();
  }
}
