// Bytes as text, also for URLs, and back.

import { Buffer } from "node:buffer";

export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

export function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64url");
}

/** @returns undefined for a text that no {@link toBase64Url} made. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(Buffer.from(text, "base64url"));
  // The last character has bits that no byte needs: one text for each value, so that none passes for another.
  return text !== "" && toBase64Url(bytes) === text ? bytes : undefined;
}
