// Encrypted values that only this server can make and open, with an end: oauth.do's session helpers, and the
// checks that those leave to their caller. Knows nothing of cookies or of the values' meaning.

import { decodeSession, encodeSession, type SessionData } from "oauth.do/session";

/** The fields that oauth.do's format asks for, and an end. Other fields are free. */
export interface Sealed extends SessionData {
  /** Milliseconds since 1970, as in oauth.do's own stores. */
  expiresAt: number;
}

/** Encrypts `fields`: base64, about 4/3 of their JSON. The first call for a secret derives its key (about 0.1 s). */
export function seal(fields: Sealed, secret: string): Promise<string> {
  return encodeSession(fields, secret);
}

/** The fields that `seal` encrypted, or undefined when it was made with another secret, changed, or has run out. */
export async function unseal(value: string, secret: string): Promise<Sealed | undefined> {
  const fields = await decodeSession(value, secret);
  // decodeSession also opens a weak, older key form and marks it so; nothing of ours was ever sealed with that.
  if (fields === null || Object.hasOwn(fields, "_needsReEncrypt")) return undefined;
  const { expiresAt } = fields;
  // decodeSession does not look at the end at all.
  return expiresAt !== undefined && Date.now() < expiresAt ? { ...fields, expiresAt } : undefined;
}
