// Sticky Ctrl and Alt: the bytes that a key sends with them. Pure.

export type Modifiers = { readonly isControl: boolean; readonly isAlt: boolean };

export const NO_MODIFIERS: Modifiers = { isControl: false, isAlt: false };

/** A cursor key without modifiers. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
const CURSOR_KEY = /^\x1b[[O]([A-DFH])$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const NUMBERED_KEY = /^\x1b\[(\d+)~$/;

/** A key's text with the modifiers. Longer text, such as a paste, is unchanged. */
export function withModifiers(text: string, { isControl, isAlt }: Modifiers): string {
  if (!isControl && !isAlt) return text;
  const code = 1 + (isAlt ? 2 : 0) + (isControl ? 4 : 0);
  const cursor = CURSOR_KEY.exec(text)?.[1];
  if (cursor !== undefined) return `\x1b[1;${code}${cursor}`;
  const number = NUMBERED_KEY.exec(text)?.[1];
  if (number !== undefined) return `\x1b[${number};${code}~`;
  if ([...text].length !== 1) return text;
  return `${isAlt ? "\x1b" : ""}${isControl ? controlOf(text) : text}`;
}

/** Control characters as keyboards send them, including space and "?" for DEL. */
function controlOf(key: string): string {
  if (key === " ") return "\0";
  if (key === "?") return "\x7f";
  return /^[a-zA-Z@[\\\]^_]$/.test(key) ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 0x1f) : key;
}
