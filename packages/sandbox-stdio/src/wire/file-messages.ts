// File operations in the sandbox: orders from the Worker to the bridge and its file helper, and the answers. JSON, then bytes.

import { decodeUtf8, encodeUtf8, joined } from "../text/utf8-text.ts";

/** Most bytes of one order or answer. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Path at which the bridge takes an order. */
export const FILES_PATH = "/files";

/** Path at which the bridge packs and unpacks archives; the request and response bodies are the archives. */
export const ARCHIVE_PATH = "/archive";

/** The resolved file must be inside one of these directories. Absent: anywhere. */
type Within = { readonly within?: readonly string[] };

/** An open file, by a handle that its owner chose. */
type Handle = { readonly owner: string; readonly handle: string };
type Limits = { readonly maxEntries: number; readonly maxDepth: number; readonly maxDirectories: number };

/** Paths are absolute. Links are followed, except as the last part of the paths of `stat`, `remove`, `copy` and `walk`. */
export type FileOrder =
  | { readonly op: "stat"; readonly path: string }
  /** Reads a whole regular file of at most `maxBytes`. */
  | ({ readonly op: "read"; readonly path: string; readonly maxBytes: number } & Within)
  /** Writes the bytes after the order, and creates the file if needed. The directory must exist. */
  | ({ readonly op: "write"; readonly path: string } & Within)
  | { readonly op: "mkdir"; readonly path: string; readonly recursive: boolean }
  | { readonly op: "list"; readonly path: string }
  | ({ readonly op: "walk"; readonly path: string; readonly followLinks: boolean } & Limits)
  | { readonly op: "real"; readonly path: string }
  | { readonly op: "remove"; readonly path: string; readonly recursive: boolean; readonly force: boolean }
  | { readonly op: "copy"; readonly path: string; readonly to: string; readonly recursive: boolean }
  | ({ readonly op: "open"; readonly path: string } & Handle)
  | ({ readonly op: "block"; readonly offset: number; readonly length: number } & Handle)
  | ({ readonly op: "close" } & Handle)
  /** Asks for the default directory and shell of processes. */
  | { readonly op: "where" };

export type FileKind = "file" | "directory" | "link" | "other";

/** Describes a link's target if it exists, else the link. */
export type FileFacts = {
  readonly kind: FileKind;
  readonly isLink: boolean;
  readonly size: number;
  readonly mode: number;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
};

/** The fields depend on the order. The bytes of `read` and `block` follow the message. */
export type FileSuccess = {
  readonly ok: true;
  readonly facts?: FileFacts;
  readonly path?: string;
  readonly entries?: readonly { readonly name: string; readonly kind: FileKind }[];
  /** Entries that could not be read. */
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly truncated?: boolean;
  readonly isEnd?: boolean;
  readonly where?: { readonly cwd: string; readonly home: string; readonly shell: string };
};

/** `code` is an errno(3) name, or `EOUTSIDE`: not inside the `within` directories. */
export type FileFailure = { readonly ok: false; readonly code: string; readonly message: string };

export type FileAnswer = FileSuccess | FileFailure;

/** Size of the two lengths, of the JSON and the bytes. */
export const FILE_HEAD_BYTES = 8;

export function packFileMessage(message: object, bytes: Uint8Array = new Uint8Array(0)): Uint8Array<ArrayBuffer> {
  const json = encodeUtf8(JSON.stringify(message));
  const packed = joined([new Uint8Array(FILE_HEAD_BYTES), json, bytes]);
  const head = new DataView(packed.buffer);
  head.setUint32(0, json.length);
  head.setUint32(4, bytes.length);
  return packed;
}

/** Length of the message that begins with this head. */
export function fileMessageLength(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset);
  return FILE_HEAD_BYTES + view.getUint32(0) + view.getUint32(4);
}

/** @returns undefined if malformed. `bytes` is a view of `packed`. */
export function unpackFileMessage<T>(packed: Uint8Array): { message: T; bytes: Uint8Array } | undefined {
  if (packed.length < FILE_HEAD_BYTES || fileMessageLength(packed) !== packed.length) return undefined;
  const at = FILE_HEAD_BYTES + new DataView(packed.buffer, packed.byteOffset).getUint32(0);
  try {
    return { message: JSON.parse(decodeUtf8(packed.subarray(FILE_HEAD_BYTES, at))) as T, bytes: packed.subarray(at) };
  } catch {
    return undefined;
  }
}
