// The text of a control sequence: Latin-1, one character per byte.

import type { SequenceKind } from "./vt-parser.ts";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are what terminals deal with
const CONTROLS = /[\x00-\x1f\x7f]/g;
/** Everything except the controls that a terminal executes in the middle of a sequence. */
const NO_ASIDE = /[^\x00-\x1a\x1c-\x1f]/g;
/** ESC [ and the like, with characters that terminals ignore in between; or a C1 control in UTF-8. */
const INTRODUCER = /^(?:\x1b[^[\]_]*[[\]_]|[^\x9b\x9d\x9f]*[\x9b\x9d\x9f])/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** The control characters in the middle of a sequence, which a terminal executes anyway. */
export function asidesOf(raw: string): string {
  return raw.replace(NO_ASIDE, "");
}

/** A sequence without introducer, string terminator and controls. */
export function textOf(kind: SequenceKind, raw: string): string {
  if (kind === "osc" || kind === "apc")
    return raw
      .replace(INTRODUCER, "")
      .replace(CONTROLS, "")
      .replace(/\xc2\x9c$/, "");
  const text = kind === "csi" ? raw.replace(INTRODUCER, "") : raw;
  return text.replace(CONTROLS, "").replace(/[\x80-\xff]/g, "");
}
