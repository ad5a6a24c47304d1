// Tells output after which a cleared screen is as good as a new one: a prompt, mostly. Whoever looks at many new terminals needs
// no new emulator for each.

/** A prompt, and the first lines before it. */
const MAX_BYTES = 4_096;

/**
 * Text in ASCII, colours, erasing, bracketed paste, and the marks of a shell, which the emulator ignores. Nothing else: of modes,
 * titles, tab stops or character sets a cleared screen keeps something.
 */
const PLAIN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
  /^(?:[\x20-\x7e\x08\r\n\x07]|\x1b\[(?:[\d;]{0,32}[mJK]|\?2004[hl])|\x1b\](?:133|633);[\x20-\x7e]{0,256}(?:\x07|\x1b\\))*$/;

/**
 * Text in UTF-8 without C1 controls, and sequences that only draw and set. A terminal that gets them late answers nothing, rings no
 * bell, copies nothing and takes no command for one that has just ended.
 */
const DRAWING = new RegExp(
  [
    "[\\x08-\\x0f\\x18\\x20-\\x7e]+",
    "\\xc2[\\xa0-\\xbf]|[\\xc3-\\xdf][\\x80-\\xbf]|[\\xe0-\\xef][\\x80-\\xbf]{2}|[\\xf0-\\xf4][\\x80-\\xbf]{3}",
    "\\x1b\\[(?:\\??[\\d;]{0,64}[hl]|[\\d;:]{0,64}[@A-HJ-MPSTXZ`abdefgmr])",
    "\\x1b(?:[()][0B]|[78=>cDEHM])",
    "\\x1b\\](?:[01278];|133;[AB]|633;P;(?:Shell|Cwd)=)[^\\x00-\\x1f\\x7f\\x9c]{0,2048}(?:\\x07|\\x1b\\\\)",
  ].join("|"),
  "y",
);
/** Of longer output the screen is drawn. */
export const MAX_ONLY_DRAWING_BYTES = 16_384;

/** Whether a terminal may be given it, long after it was written, in place of the screen that it draws. */
export function isOnlyDrawing(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_ONLY_DRAWING_BYTES) return false;
  const text = latin1(bytes);
  // Piece by piece: as one pattern with a repetition it takes a hundred times as long.
  DRAWING.lastIndex = 0;
  while (DRAWING.lastIndex < text.length) if (!DRAWING.test(text)) return false;
  return true;
}

/** Sequences that set back all that such output may have set, and clear the screen. */
export const CLEARED = "\x1b[?2004l\x1b[m\x1b[H\x1b[2J";

export function isPlain(bytes: Uint8Array): boolean {
  return bytes.length <= MAX_BYTES && PLAIN.test(latin1(bytes));
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
