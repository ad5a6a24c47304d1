// Lines of text among output: of many, only the last ones are remembered.

export const ESC = 0x1b;
/** SO and SI change the character set, 0xc2 begins the C1 controls of UTF-8: text without them, and without ESC, is only text. */
export const OTHER_CONTROLS = [0x0e, 0x0f, 0xc2];
const CR = 0x0d;
const LF = 0x0a;

/** How many bytes come before the first of `controls`. */
export function lengthWithout(bytes: Uint8Array, controls: readonly number[]): number {
  let length = bytes.length;
  for (const control of controls) {
    const at = bytes.indexOf(control);
    if (at >= 0 && at < length) length = at;
  }
  return length;
}

/** Finds the last `count` line ends: the place behind the first of them, and how many there are too few. */
export function lastLineEnds(bytes: Uint8Array, count: number): { readonly behind: number; readonly missing: number } {
  let missing = count;
  for (let at = bytes.length - 1; at > 0; at -= 1) {
    if (bytes[at] !== LF || bytes[at - 1] !== CR) continue;
    missing -= 1;
    if (missing === 0) return { behind: at + 1, missing };
  }
  return { behind: 0, missing };
}
