// Cleans pasted text. Pure.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a paste must not hold
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Removes control characters except tabs and line ends: they would act as keys, or end bracketed paste. */
export function cleanPaste(text: string): string {
  return text.replace(CONTROL, "");
}

/** Whether a program without bracketed paste would act on the text at once. */
export function hasLineEnd(text: string): boolean {
  return /[\r\n]/.test(text);
}

export function countLines(text: string): number {
  return text.replace(/(\r\n|\r|\n)$/, "").split(/\r\n|\r|\n/).length;
}
