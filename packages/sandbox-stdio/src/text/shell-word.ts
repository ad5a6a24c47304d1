// One word as a shell would need it written.

/** A text that a shell reads as this one word. Words that need no quotes get none. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
