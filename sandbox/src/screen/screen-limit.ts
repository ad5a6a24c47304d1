// A screen as it is told to programs has at most 1 MiB (S1): the oldest of the scrollback is cut first, then styles, then rows.

import type { ScreenState } from "./read-screen.ts";

/** Of JSON in UTF-8. The words around it have room. */
const MAX_BYTES = 1024 * 1024 - 16 * 1024;

export function withinLimit(state: ScreenState): ScreenState {
  if (bytesOf(state) <= MAX_BYTES) return state;
  const { scrollback = [], ...screen } = state;
  let left = MAX_BYTES - bytesOf(screen);
  const newest: string[] = [];
  for (const line of scrollback.toReversed()) {
    left -= bytesOf(line) + 1;
    if (left < 0) break;
    newest.unshift(line);
  }
  const cut: ScreenState = { ...screen, ...(newest.length === 0 ? {} : { scrollback: newest }), truncated: true };
  if (bytesOf(cut) <= MAX_BYTES) return cut;
  const { runs: _, ...plain } = cut;
  if (bytesOf(plain) <= MAX_BYTES) return plain;
  // Rows of a thousand columns, each full of combining characters.
  const share = Math.floor(MAX_BYTES / 2 / state.rows / 6);
  return { ...plain, lines: plain.lines.map((line) => line.slice(0, share)) };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
