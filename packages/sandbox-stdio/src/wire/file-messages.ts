// Orders for files in the sandbox, from the Worker to the bridge and on to its file helper, and the answers: JSON, with bytes behind it.

import { decodeUtf8, encodeUtf8, joined } from "../text/utf8-text.ts";

/** The most bytes of one order or answer. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Where the bridge takes an order. */
export const FILES_PATH = "/files";

/** Where the bridge packs and unpacks archives: their bytes are the bodies. */
export const ARCHIVE_PATH = "/archive";

/** Directories, one of which the file must lie in once its links are resolved. Absent: anywhere. */
type Within = { readonly within?: readonly string[] };

/** Paths are absolute. Links are followed, but for those that `stat`, `remove`, `copy` and `walk` are about. */
export type FileOrder =
  | { readonly op: "stat"; readonly path: string }
  /** A regular file, whole, of at most so many bytes. */
  | ({ readonly op: "read"; readonly path: string; readonly maxBytes: number } & Within)
  /** The bytes behind the order become the file, which is made where it is absent. Its directory is there. */
  | ({ readonly op: "write"; readonly path: string } & Within)
  | { readonly op: "mkdir"; readonly path: string; readonly recursive: boolean }
  | { readonly op: "list"; readonly path: string }
  | {
      readonly op: "walk";
      readonly path: string;
      readonly maxEntries: number;
      readonly maxDepth: number;
      readonly maxDirectories: number;
      readonly followLinks: boolean;
    }
  | { readonly op: "real"; readonly path: string }
  | { readonly op: "remove"; readonly path: string; readonly recursive: boolean; readonly force: boolean }
  | { readonly op: "copy"; readonly path: string; readonly to: string; readonly recursive: boolean }
  /** Handles are of their owner's own naming. */
  | { readonly op: "open"; readonly owner: string; readonly handle: string; readonly path: string }
  | {
      readonly op: "block";
      readonly owner: string;
      readonly handle: string;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly op: "close"; readonly owner: string; readonly handle: string }
  /** Where processes start here, and by which shell. */
  | { readonly op: "where" };

export type FileKind = "file" | "directory" | "link" | "other";

/** Of what a link leads to, if it leads to something. */
export type FileFacts = {
  readonly kind: FileKind;
  readonly isLink: boolean;
  readonly size: number;
  readonly mode: number;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
};

/** One of these, by the order; `read` and `block` have their bytes behind it. */
export type FileSuccess = {
  readonly ok: true;
  readonly facts?: FileFacts;
  readonly path?: string;
  readonly entries?: readonly { readonly name: string; readonly kind: FileKind }[];
  /** What could not be looked at. */
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  readonly truncated?: boolean;
  readonly isEnd?: boolean;
  readonly where?: { readonly cwd: string; readonly home: string; readonly shell: string };
};

/** `code` is the error's name in errno(3), or `EOUTSIDE`: not within the directories that were named. */
export type FileFailure = { readonly ok: false; readonly code: string; readonly message: string };

export type FileAnswer = FileSuccess | FileFailure;

const LENGTH_BYTES = 4;

export function packFileMessage(message: object, bytes: Uint8Array = new Uint8Array(0)): Uint8Array<ArrayBuffer> {
  const json = encodeUtf8(JSON.stringify(message));
  const packed = joined([new Uint8Array(LENGTH_BYTES), json, bytes]);
  new DataView(packed.buffer).setUint32(0, json.length);
  return packed;
}

/** @returns undefined where it is none. The bytes are a part of `packed`. */
export function unpackFileMessage<T>(packed: Uint8Array): { message: T; bytes: Uint8Array } | undefined {
  if (packed.length < LENGTH_BYTES) return undefined;
  const length = new DataView(packed.buffer, packed.byteOffset).getUint32(0);
  if (LENGTH_BYTES + length > packed.length) return undefined;
  try {
    const text = decodeUtf8(packed.subarray(LENGTH_BYTES, LENGTH_BYTES + length));
    return { message: JSON.parse(text) as T, bytes: packed.subarray(LENGTH_BYTES + length) };
  } catch {
    return undefined;
  }
}
