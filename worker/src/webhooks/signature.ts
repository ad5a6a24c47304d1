// How a receiver knows that a call is ours and not an old one: HMAC-SHA-256 over the time and the body.

export const HEADERS = {
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
