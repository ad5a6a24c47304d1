// The log as bytes to be stored, and back: so that the output of a process that has ended can still be read.

import { STREAM_STDERR, STREAM_STDOUT } from "./constants.ts";
import { OutputLog } from "./log.ts";

/** Stored in pieces, since a store may limit the size of one value. */
const PIECE_BYTES = 512 * 1024;
/** Stream byte and length (u32, big-endian) before each run. */
const RUN_HEADER_BYTES = 5;

/** The log's content, without changes of size: pieces that are to be kept in order. */
export function encodeArchive(log: OutputLog): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let piece = new Uint8Array(PIECE_BYTES);
  let used = 0;
  const close = () => {
    if (used > 0) pieces.push(piece.slice(0, used));
    piece = new Uint8Array(PIECE_BYTES);
    used = 0;
  };
  for (let offset = log.startOffset; ; ) {
    const item = log.itemAt(offset);
    if (item.kind !== "bytes") break;
    if (used + RUN_HEADER_BYTES + item.length > PIECE_BYTES) close();
    piece[used] = item.stream;
    new DataView(piece.buffer).setUint32(used + 1, item.length);
    log.copy(offset, item.length, piece, used + RUN_HEADER_BYTES);
    used += RUN_HEADER_BYTES + item.length;
    offset += item.length;
  }
  close();
  return pieces;
}

/** @param start The offset of the first byte stored. */
export function decodeArchive(
  pieces: Iterable<Uint8Array>,
  start: number,
  size: { cols: number; rows: number },
): OutputLog {
  const log = new OutputLog(size, undefined, start);
  for (const piece of pieces) {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < piece.length; ) {
      const length = view.getUint32(at + 1);
      const bytes = piece.subarray(at + RUN_HEADER_BYTES, at + RUN_HEADER_BYTES + length);
      log.append(bytes, piece[at] === STREAM_STDERR ? STREAM_STDERR : STREAM_STDOUT);
      at += RUN_HEADER_BYTES + length;
    }
  }
  return log;
}
