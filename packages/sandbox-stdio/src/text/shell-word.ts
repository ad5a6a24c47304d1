// Quotes a word for a shell.

/** A text that a shell reads as this one word. Adds quotes only if needed. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
