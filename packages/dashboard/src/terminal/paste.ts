// Cleans pasted text before a process gets it. Pure.

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a paste must not hold
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/**
 * Pasted text without control characters, tabs and line ends aside: they would be keys that no person pressed, or end the
 * brackets that mark it as pasted.
 */
export function cleanPaste(text: string): string {
  return text.replace(CONTROL, "");
}

/** Whether a program that takes it for typing would act on it at once. */
export function hasLineEnd(text: string): boolean {
  return /[\r\n]/.test(text);
}

export function countLines(text: string): number {
  return text.replace(/(\r\n|\r|\n)$/, "").split(/\r\n|\r|\n/).length;
}
