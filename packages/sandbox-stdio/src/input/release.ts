// Releases the memory of long messages once they have no reader. Garbage collectors count objects, hardly the bytes outside
// the heap, and let tens of megabytes pile up.

/// <reference lib="es2024.arraybuffer" />

/** Shorter memory is left to the collector: the gain is small, and several pieces may share it. */
const MIN_BYTES = 16 * 1024;

/** If its memory is long, `bytes` is empty from here on, and so is every other view of it. */
export function release({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength > MIN_BYTES) buffer.transfer(0);
}
