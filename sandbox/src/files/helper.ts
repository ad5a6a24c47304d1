// The file helper: a process of the sandbox's user that does what the bridge asks on its standard input, and answers on its standard
// output. It ends with its input.

import { readSync, writeSync } from "node:fs";
import { type FileOrder, MAX_FILE_BYTES, packFileMessage, unpackFileMessage } from "sandbox-stdio/core";
import { fileErrorOf } from "./file-error.ts";
import { FrameReader } from "./frames.ts";
import { FileOperations } from "./operations.ts";

/** The last argument of the bridge's program, when that is started as the helper. */
export const HELPER_FLAG = "--files";
/** Largest message: a file's bytes, and its paths or the entries of a directory. */
export const MAX_MESSAGE_BYTES = MAX_FILE_BYTES + 16 * 1024 * 1024;

const READ_BYTES = 256 * 1024;

/** Returns once the input has ended. */
export function serveFiles(): void {
  const operations = new FileOperations();
  const frames = new FrameReader(MAX_MESSAGE_BYTES);
  for (;;) {
    const room = Buffer.alloc(READ_BYTES);
    const count = readSync(0, room, 0, room.length, null);
    if (count === 0) return;
    for (const packed of frames.push(room.subarray(0, count))) answer(operations, packed);
  }
}

function answer(operations: FileOperations, packed: Uint8Array): void {
  const asked = unpackFileMessage<FileOrder & { readonly id: number }>(packed);
  if (asked === undefined) throw new TypeError("Cannot read the bridge's order");
  const { message, bytes } = asked;
  const { id } = message;
  let said: Uint8Array;
  try {
    const done = operations.carryOut(message, bytes);
    said = packFileMessage({ id, ...done.answer, isInUse: operations.isInUse }, done.bytes);
  } catch (error) {
    said = packFileMessage({ id, ok: false, ...fileErrorOf(error), isInUse: operations.isInUse });
  }
  for (let at = 0; at < said.length; ) at += writeSync(1, said, at, said.length - at);
}
