// Encodes the log for storage and decodes it, so that the output of an ended process stays readable.

import { STREAM_STDERR, STREAM_STDOUT } from "../wire/constants.ts";
import type { OutputStream } from "../wire/frames.ts";
import { OutputLog, type SizeMark } from "./output-log.ts";

/** Piece size; a store may limit the size of one value. */
const PIECE_BYTES = 512 * 1024;
/** Stream byte and length (u32, big-endian) before each run. */
const RUN_HEADER_BYTES = 5;

/** The log's content without its {@link OutputLog.changes}, as pieces whose order matters. */
export function encodeArchive(log: OutputLog): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let offset = log.startOffset; offset < log.endOffset; ) {
    const runs = runsFrom(log, offset);
    const piece = new Uint8Array(runs.reduce((bytes, { length }) => bytes + RUN_HEADER_BYTES + length, 0));
    let used = 0;
    for (const { stream, length } of runs) {
      piece[used] = stream;
      new DataView(piece.buffer).setUint32(used + 1, length);
      log.copy(offset, length, piece, used + RUN_HEADER_BYTES);
      used += RUN_HEADER_BYTES + length;
      offset += length;
    }
    pieces.push(piece);
  }
  return pieces;
}

/** The runs that fit into the piece starting at `offset`: at least one, since no run is longer than a piece. */
function runsFrom(log: OutputLog, offset: number): { stream: OutputStream; length: number }[] {
  const runs: { stream: OutputStream; length: number }[] = [];
  let bytes = 0;
  for (let item = log.itemAt(offset); item.kind === "bytes"; item = log.itemAt(offset)) {
    bytes += RUN_HEADER_BYTES + item.length;
    if (bytes > PIECE_BYTES) break;
    runs.push(item);
    offset += item.length;
  }
  return runs;
}

/**
 * @param start Offset of the first stored byte.
 * @param size The PTY's size at that offset.
 * @param changes The log's size changes.
 */
export function decodeArchive(
  pieces: Iterable<Uint8Array>,
  start: number,
  size: { cols: number; rows: number },
  changes: readonly SizeMark[] = [],
  capacityBytes?: number,
): OutputLog {
  const log = new OutputLog(size, capacityBytes, start);
  for (const piece of pieces) {
    const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < piece.length; ) {
      const length = view.getUint32(at + 1);
      const bytes = piece.subarray(at + RUN_HEADER_BYTES, at + RUN_HEADER_BYTES + length);
      log.append(bytes, piece[at] === STREAM_STDERR ? STREAM_STDERR : STREAM_STDOUT);
      at += RUN_HEADER_BYTES + length;
    }
  }
  log.restoreChanges(changes);
  return log;
}
