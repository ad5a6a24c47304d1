// Gives the memory of long messages back as soon as they have no reader. Collectors go by the objects and little by
// the bytes outside of them, and let tens of megabytes wait.

/// <reference lib="es2024.arraybuffer" />

/** Shorter memory is left to the collector: there is little to win, and several pieces may share it. */
const MIN_BYTES = 16 * 1024;

/** Where its memory is long, `bytes` is empty from here on, and so is all else that is a view of it. */
export function release({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > MIN_BYTES) buffer.transfer(0);
}
