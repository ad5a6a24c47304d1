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

/** Sequences that set back all that such output may have set, and clear the screen. */
export const CLEARED = "\x1b[?2004l\x1b[m\x1b[H\x1b[2J";

export function isPlain(bytes: Uint8Array): boolean {
  return (
    bytes.length <= MAX_BYTES &&
    PLAIN.test(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1"))
  );
}
