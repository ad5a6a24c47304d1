// Finds emoji of several code points: flags, skin tones, joined emoji. Each keeps the cells that line editors count (wcwidth), and is drawn
// as one in the first of them. Pure.

/** Text without any of these has no cluster: two regional indicators, a skin tone, a joiner. */
const SIGN = /\p{RI}\p{RI}|\p{EMod}|\u200d/u;
const CLUSTER = /\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\ufe0f)?(?:\u200d\p{Emoji}(?:\p{EMod}|\ufe0f)?)*/gu;

/** First UTF-8 byte of code points above U+FFFF, which every wide cluster contains. */
const FIRST_BYTE = 0xf0;

export function mayHaveClusters(bytes: Uint8Array): boolean {
  return bytes.includes(FIRST_BYTE);
}

/** @returns Column ranges [start, end), as xterm.js's joiner takes them. */
export function clustersIn(text: string): [number, number][] {
  if (!SIGN.test(text)) return [];
  return [...text.matchAll(CLUSTER)]
    .filter(([whole]) => SIGN.test(whole))
    .map(({ 0: whole, index }) => [index, index + whole.length]);
}
