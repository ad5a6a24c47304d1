// The text of a control sequence: Latin-1, a character for each byte.

import type { SequenceKind } from "./vt-parser.ts";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are what terminals deal with
const CONTROLS = /[\x00-\x1f\x7f]/g;
/** All but the controls that a terminal carries out in the middle of a sequence. */
const NO_ASIDE = /[^\x00-\x1a\x1c-\x1f]/g;
/** ESC [ and the like, with the characters that a terminal passes over between the two; or a C1 control, in UTF-8. */
const INTRODUCER = /^(?:\x1b[^[\]_]*[[\]_]|[^\x9b\x9d\x9f]*[\x9b\x9d\x9f])/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** The control characters in the middle of a sequence, which a terminal carries out all the same. */
export function asidesOf(raw: string): string {
  return raw.replace(NO_ASIDE, "");
}

/** A sequence without its introducer and the end of a string, and without controls. */
export function textOf(kind: SequenceKind, raw: string): string {
  if (kind === "osc" || kind === "apc")
    return raw
      .replace(INTRODUCER, "")
      .replace(CONTROLS, "")
      .replace(/\xc2\x9c$/, "");
  const text = kind === "csi" ? raw.replace(INTRODUCER, "") : raw;
  return text.replace(CONTROLS, "").replace(/[\x80-\xff]/g, "");
}
