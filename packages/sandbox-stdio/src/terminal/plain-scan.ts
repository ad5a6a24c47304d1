// Fast scans over bytes that contain no terminal query: plain text, and the most frequent sequences.

import { canEndQuery } from "./queries.ts";

/** Whether a whole CSI here is obviously not a query, as most are. Several times as fast as the parser. */
export function isHarmlessCsi(bytes: Uint8Array, at: number): boolean {
  if (bytes[at + 1] !== 0x5b) return false;
  let i = at + 2;
  let byte = bytes[i] ?? 0;
  while (byte >= 0x30 && byte <= 0x3b) {
    i += 1;
    byte = bytes[i] ?? 0;
  }
  return byte >= 0x40 && byte < 0x7f && !canEndQuery(byte);
}

export function indexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from);
  return index < 0 ? bytes.length : index;
}

/** Whether a C1 control can continue with this byte. */
export function mayBeControl(byte: number | undefined): boolean {
  return byte === undefined || (byte >= 0x80 && byte < 0xa0);
}

export function endOfAscii(bytes: Uint8Array, from: number): number {
  let end = from;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte < 0x20 || byte >= 0x80) break;
  }
  return end;
}
