// Makes foreign text safe for a terminal: nothing in it may move the cursor or reverse a line. Pure.

/** Control characters (C0, DEL, C1), format characters (bidi, zero width, tags), and the Unicode ends of lines. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;
/** The same without line feeds of indented JSON, whose strings are escaped already. */
const UNSAFE_IN_JSON = /(?!\n)[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** One trimmed line, with a space for each run of unsafe characters. */
export function oneLine(text: string): string {
  return plain(text).trim();
}

/** The same, untrimmed. */
export function plain(text: string): string {
  return text.replace(UNSAFE, " ");
}

/** JSON with unsafe characters escaped. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE_IN_JSON, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
