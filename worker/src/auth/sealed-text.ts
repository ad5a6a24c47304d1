// Values as texts that only this server can make and read: authenticated encryption, with the kind of the value before it.
// Knows nothing of the values' meaning, nor of their end.

import { fromBase64Url, toBase64Url } from "../base/base64url.ts";

const NONCE_BYTES = 12;
/** Longer ones are refused unread. */
const MAX_CHARACTERS = 8192;

/** `KIND.…`, in characters that an address and a cookie can hold. @param kind A letter. */
export async function sealText(kind: string, value: object, secret: string): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const plain = new TextEncoder().encode(JSON.stringify(value));
  const sealed = await crypto.subtle.encrypt(cipher(kind, nonce), await keyOf(secret), plain);
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return `${kind}.${toBase64Url(bytes)}`;
}

/** @returns The value that {@link sealText} was given for this kind; undefined for any other text. */
export async function openText<Value>(kind: string, text: string, secret: string): Promise<Value | undefined> {
  if (text.length > MAX_CHARACTERS || !text.startsWith(`${kind}.`)) return undefined;
  const bytes = fromBase64Url(text.slice(kind.length + 1));
  if (bytes === undefined || bytes.length <= NONCE_BYTES) return undefined;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  try {
    const sealed = bytes.subarray(NONCE_BYTES);
    const plain = await crypto.subtle.decrypt(cipher(kind, nonce), await keyOf(secret), sealed);
    // Only we can have sealed it, so it is what sealText was given.
    return JSON.parse(new TextDecoder().decode(plain)) as Value;
  } catch (error) {
    if (error instanceof Error && error.name === "OperationError") return undefined; // Not sealed here, or changed.
    throw error;
  }
}

/** The kind is authenticated too: none can be passed off as another. */
function cipher(kind: string, nonce: Uint8Array<ArrayBuffer>) {
  return { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode(`ticket ${kind}`) };
}

// One key for each secret, which is one for each deployment.
const keys = new Map<string, Promise<CryptoKey>>();

function keyOf(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = deriveKey(secret);
  keys.set(secret, key);
  return key;
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const bytes = new TextEncoder();
  const material = await crypto.subtle.importKey("raw", bytes.encode(secret), "HKDF", false, ["deriveKey"]);
  const parameters = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(32),
    info: bytes.encode("sbx-stdio ticket"),
  };
  return crypto.subtle.deriveKey(parameters, material, { name: "AES-GCM", length: 256 }, false, ["encrypt", "decrypt"]);
}
