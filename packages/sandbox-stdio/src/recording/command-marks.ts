// Finds where a shell's commands start in recorded output: OSC 133 and 633 (C1), wherever the output is cut.

import { ESC } from "../terminal/vt-parser.ts";
import { clipUtf8, decodeUtf8 } from "../text/utf8-text.ts";

/** `offset` is behind the mark; `line` is as the shell told it, or empty. */
export type CommandMark = { readonly offset: number; readonly line: string };

/** The start of a mark that has not ended, a character for each byte, and the line of the next command. */
export type MarkState = { readonly open: string; readonly line: string };

export const NO_MARKS: MarkState = { open: "", line: "" };
const MAX_LINE = 4_096;
/** Characters that are made of bytes at a time: arguments of one call. */
const PIECE = 8_192;
// A longer OSC is ignored. Any ESC ends one, and may begin what comes next.
const TEXT = "[^\\x07\\x18\\x1a\\x1b]{0,16384}";
const MARK = new RegExp(`\\x1b\\]([16])33;([CE])(${TEXT})(?:\\x07|\\x1b\\\\|(?=\\x1b[^\\\\]))`, "g");
const OPEN = new RegExp(`\\x1b(?:\\](?:[16]?3{0,2}|[16]33;${TEXT}\\x1b?))?$`);

/** @param offset Of the first byte, which follows the last of the call that returned `state`. */
export function commandMarks(
  { open, line: told }: MarkState,
  bytes: Uint8Array,
  offset: number,
): { readonly marks: readonly CommandMark[]; readonly state: MarkState } {
  if (open === "" && !bytes.includes(ESC)) return { marks: [], state: { open, line: told } };
  const text = open + characters(bytes);
  const start = offset - open.length;
  const marks: CommandMark[] = [];
  let line = told;
  let end = 0;
  for (const { 0: whole, 1: number, 2: kind, 3: fields = "", index } of text.matchAll(MARK)) {
    end = index + whole.length;
    if (kind === "C") {
      marks.push({ offset: start + end, line: (number === "1" ? lineOf(fields) : undefined) ?? line });
      line = "";
    } else if (number === "6") line = clipUtf8(unescaped(fields.split(";")[1] ?? ""), MAX_LINE);
  }
  return { marks, state: { open: OPEN.exec(text.slice(end))?.[0] ?? "", line } };
}

/** A character for each byte. */
export function characters(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return text;
}

/** The line in the mark C of fish. */
export function lineOf(fields: string): string | undefined {
  const url = /;cmdline_url=([^;]*)/.exec(fields)?.[1];
  try {
    return url && clipUtf8(decodeURIComponent(url), MAX_LINE);
  } catch {
    return undefined; // Not UTF-8, or cut in the middle of a character.
  }
}

/** Resolves the escapes of OSC 633: `\\` and `\xHH`, a byte of UTF-8. */
export function unescaped(text: string): string {
  const bytes = text.replace(/\\(?:\\|x([0-9a-fA-F]{2}))/g, (_, hex?: string) =>
    hex === undefined ? "\\" : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decodeUtf8(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));
}
