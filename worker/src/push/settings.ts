// The variables that concern push notices.

import { fromBase64Url } from "../base/base64url.ts";
import { AuthFault } from "../refusal/fault.ts";

export interface PushEnv {
  /** The key that push services know this server by: a private P-256 key, as a JWK. Default: none, nobody's device is called. */
  readonly VAPID_KEY?: string;
  /** A `mailto:` or `https:` address of the operator's, for push services. Default: `PUBLIC_ORIGIN`. */
  readonly VAPID_SUBJECT?: string;
}

export type PushSettings = {
  readonly key: JsonWebKey;
  /** Uncompressed: what browsers subscribe with. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly subject: string;
};

const COORDINATE_BYTES = 32;

/** @returns undefined if there is no key. @throws {AuthFault} `misconfigured`. */
export function readPushSettings(env: PushEnv & { readonly PUBLIC_ORIGIN?: string }): PushSettings | undefined {
  if (!env.VAPID_KEY) return undefined;
  const fault = new AuthFault(
    "misconfigured",
    "This server is not set up: VAPID_KEY must be a private P-256 key, as a JWK",
  );
  let key: JsonWebKey;
  try {
    key = JSON.parse(env.VAPID_KEY) as JsonWebKey;
  } catch {
    throw fault;
  }
  const [x, y, d] = [key.x, key.y, key.d].map((text) => fromBase64Url(String(text)));
  if (key.crv !== "P-256" || [x, y, d].some((part) => part?.length !== COORDINATE_BYTES)) throw fault;
  // Push services take no plain HTTP for an address of the operator's.
  const subject = env.VAPID_SUBJECT || (env.PUBLIC_ORIGIN ?? "").replace(/^http:/, "https:");
  return { key, publicKey: Uint8Array.of(4, ...(x ?? []), ...(y ?? [])), subject };
}
