// OSC 52, by which a program writes to the clipboard: reads the program's request. Pure.

/** Text beyond this is not offered: a person could not look through it. */
export const MAX_CLIPBOARD_BYTES = 256 * 1024;

/**
 * Reads the text of an OSC 52, `SELECTION;BASE64`.
 * @returns The text to copy; undefined if the program would read (never allowed) or clear, or the text can't be decoded.
 */
export function readClipboardWrite(data: string): string | undefined {
  const base64 = /^[cpqs0-7]*;([A-Za-z0-9+/]+={0,2})$/.exec(data)?.[1];
  if (base64 === undefined || base64.length > Math.ceil(MAX_CLIPBOARD_BYTES / 3) * 4) return undefined;
  let binary: string;
  try {
    binary = atob(base64);
  } catch {
    // The only thing that atob throws for: no base64 after all.
    return undefined;
  }
  return new TextDecoder().decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)));
}

const PREVIEW_LENGTH = 160;

/** The beginning of a text as one line, control characters made visible. */
export function preview(text: string): string {
  const line = text
    .slice(0, PREVIEW_LENGTH)
    .replace(/\r\n|\r|\n/g, " ⏎ ")
    .replace(/\p{C}/gu, "�");
  return text.length > PREVIEW_LENGTH ? `${line}…` : line;
}
