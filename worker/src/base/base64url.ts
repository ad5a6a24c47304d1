// Bytes as text for URLs, and back.

export function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** @returns undefined for a text that no {@link toBase64Url} made. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    // The last character has bits that no byte needs: one text for each value, so that none passes for another.
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined; // Not base64: nothing that we made.
  }
}
