// Recognizes output after which a cleared screen is as good as a new one, such as a prompt, so that the screens of many new terminals
// can be read by one emulator; and output that may be replayed late.

/** A prompt, and the first lines before it. */
const MAX_BYTES = 4_096;

/**
 * ASCII text, colours, erasing, bracketed paste, and the marks of a shell, which the emulator ignores. Nothing else, as clearing does
 * not undo modes, titles, tab stops and character sets.
 */
const PLAIN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are terminal sequences
  /^(?:[\x20-\x7e\x08\r\n\x07]|\x1b\[(?:[\d;]{0,32}[mJK]|\?2004[hl])|\x1b\](?:133|633);[\x20-\x7e]{0,256}(?:\x07|\x1b\\))*$/;

/**
 * UTF-8 text without C1 controls, and sequences that only draw or set. A terminal that gets them late answers nothing, does not ring,
 * copies nothing, and reports no command as just ended.
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
/** For longer output, the screen is drawn instead. */
export const MAX_ONLY_DRAWING_BYTES = 16_384;

/** Whether the output may be replayed long after it was written, in place of the screen that it makes. */
export function isOnlyDrawing(bytes: Uint8Array): boolean {
  if (bytes.length > MAX_ONLY_DRAWING_BYTES) return false;
  const text = latin1(bytes);
  // Piece by piece: one pattern with a repetition takes a hundred times as long.
  DRAWING.lastIndex = 0;
  while (DRAWING.lastIndex < text.length) if (!DRAWING.test(text)) return false;
  return true;
}

/** Resets everything that plain output may have set, and clears the screen. */
export const CLEARED = "\x1b[?2004l\x1b[m\x1b[H\x1b[2J";

export function isPlain(bytes: Uint8Array): boolean {
  return bytes.length <= MAX_BYTES && PLAIN.test(latin1(bytes));
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}
