// OSC 52: a program's request to write to the clipboard. Pure.

/** Limit of an offered text, which a person should be able to check. */
export const MAX_CLIPBOARD_BYTES = 256 * 1024;

/** Parses an OSC 52, `SELECTION;BASE64`. @returns The text; undefined for reading (never allowed), clearing or invalid data. */
export function readClipboardWrite(data: string): string | undefined {
  const base64 = /^[cpqs0-7]*;([A-Za-z0-9+/]+={0,2})$/.exec(data)?.[1];
  if (base64 === undefined || base64.length > Math.ceil(MAX_CLIPBOARD_BYTES / 3) * 4) return undefined;
  let binary: string;
  try {
    binary = atob(base64);
  } catch {
    // Not base64.
    return undefined;
  }
  return new TextDecoder().decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
}

const PREVIEW_LENGTH = 160;

/** The beginning of a text on one line, with control characters visible. */
export function preview(text: string): string {
  const line = text
    .slice(0, PREVIEW_LENGTH)
    .replace(/\r\n|\r|\n/g, " ⏎ ")
    .replace(/\p{C}/gu, "�");
  return text.length > PREVIEW_LENGTH ? `${line}…` : line;
}
