// Characters that are one picture, in more cells than one: flags, skin colours, people at work. Each keeps the cells that the shell's
// own line editor counts on (wcwidth), and they are drawn in one go, in the first of them. Pure.

/** Where it is not found, nothing is joined: two regional indicators, a skin colour, a joiner. */
const SIGN = /\p{RI}\p{RI}|\p{EMod}|\u200d/u;
const CLUSTER = /\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\ufe0f)?(?:\u200d\p{Emoji}(?:\p{EMod}|\ufe0f)?)*/gu;

/** Emoji outside the first 65,536 characters begin with it in UTF-8; without one of them there is no cluster of more than a cell. */
const FIRST_BYTE = 0xf0;

export function mayHaveClusters(bytes: Uint8Array): boolean {
  return bytes.includes(FIRST_BYTE);
}

/** @returns Pairs of first column and column after the last, as a character joiner of xterm.js gives them. */
export function clustersIn(text: string): [number, number][] {
  if (!SIGN.test(text)) return [];
  return [...text.matchAll(CLUSTER)]
    .filter(([whole]) => SIGN.test(whole))
    .map(({ 0: whole, index }) => [index, index + whole.length]);
}
