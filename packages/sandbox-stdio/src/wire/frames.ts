// Binary messages: one type byte, then the payload. Encoders return new memory.
// Decoders copy nothing: their views are valid as long as the message is.

import { INNER_ANSWER, INNER_STDIN, STREAM_SNAPSHOT, STREAM_STDERR, STREAM_STDOUT } from "./constants.ts";

export type OutputStream = typeof STREAM_STDOUT | typeof STREAM_STDERR;

/** A binary message from the server. `bytes` is a view of the message. */
export type OutputFrame =
  | { readonly kind: "output"; readonly stream: OutputStream; readonly bytes: Uint8Array }
  | { readonly kind: "snapshot"; readonly bytes: Uint8Array }
  /** Empty, or from a newer server: ignored. */
  | { readonly kind: "unknown" };

/** Puts the type byte before the payload, in new memory. */
export function encodeFrame(type: OutputStream | typeof STREAM_SNAPSHOT, payload: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(1 + payload.length);
  frame[0] = type;
  frame.set(payload, 1);
  return frame;
}

/** The bytes are a view of `message`: a caller that keeps them must own the message or copy it. */
export function decodeFrame(message: Uint8Array): OutputFrame {
  const type = message[0];
  if (type === STREAM_STDOUT || type === STREAM_STDERR) {
    return { kind: "output", stream: type, bytes: message.subarray(1) };
  }
  return type === STREAM_SNAPSHOT ? { kind: "snapshot", bytes: message.subarray(1) } : { kind: "unknown" };
}

/** Standard input on the inner hop, with its client's slot and offset. `bytes` is a view of the message. */
export type StdinFrame = { readonly slot: number; readonly offset: number; readonly bytes: Uint8Array };

/** Type byte, slot (u32), offset (two u32: high, low). All big-endian. */
export const STDIN_HEADER_BYTES = 13;

export function encodeStdin(slot: number, offset: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(STDIN_HEADER_BYTES + bytes.length);
  const view = new DataView(frame.buffer);
  frame[0] = INNER_STDIN;
  view.setUint32(1, slot);
  view.setUint32(5, Math.floor(offset / 0x1_0000_0000));
  view.setUint32(9, offset >>> 0);
  frame.set(bytes, STDIN_HEADER_BYTES);
  return frame;
}

/** @returns undefined for another type, a message that is too short, or an unsafe offset. */
export function decodeStdin(message: Uint8Array): StdinFrame | undefined {
  if (message.length < STDIN_HEADER_BYTES || message[0] !== INNER_STDIN) return undefined;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const offset = view.getUint32(5) * 0x1_0000_0000 + view.getUint32(9);
  if (!Number.isSafeInteger(offset)) return undefined;
  return { slot: view.getUint32(1), offset, bytes: message.subarray(STDIN_HEADER_BYTES) };
}

/** A piece of an answer, with its question's id. `bytes` is a view of the message. */
export type AnswerPiece = { readonly id: number; readonly bytes: Uint8Array };

/** Type byte, and the question's id (u32, big-endian). */
const ANSWER_HEADER_BYTES = 5;

export function encodeAnswer(id: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(ANSWER_HEADER_BYTES + bytes.length);
  frame[0] = INNER_ANSWER;
  new DataView(frame.buffer).setUint32(1, id);
  frame.set(bytes, ANSWER_HEADER_BYTES);
  return frame;
}

/** @returns undefined if the message is not a piece of an answer. */
export function decodeAnswer(message: Uint8Array): AnswerPiece | undefined {
  if (message.length < ANSWER_HEADER_BYTES || message[0] !== INNER_ANSWER) return undefined;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  return { id: view.getUint32(1), bytes: message.subarray(ANSWER_HEADER_BYTES) };
}
