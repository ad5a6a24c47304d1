// codex' calls about files (E6), as orders to the file helper, and its answers.

import type { FileAnswer, FileFailure, FileOrder, FileSuccess } from "../wire/file-messages.ts";
import { type Check, isBoolean, isOffset, isRecord, isString } from "../wire/schema.ts";
import { CodexError, checkParams, ERROR, pathOf, requireBase64, requireNoSandbox, uriOf } from "./messages.ts";

/** Bytes of a file that is read or written whole. */
export const MAX_WHOLE_BYTES = 4 * 1024 * 1024;
const MAX_BLOCK_BYTES = 1024 * 1024;
const MAX_WALKED = 10_000;

export type FileCall = {
  readonly order: FileOrder;
  /** Base64, of what is to be written. */
  readonly data?: string;
  /** Whether it changes anything. */
  readonly writes: boolean;
  /** The path that it is about, for the record. */
  readonly path: string;
  /** @param data The bytes that came with it, in base64. */
  result(answer: FileSuccess, data: string): object;
};

type Params = Readonly<Record<string, unknown>>;
type Reader = { readonly shape?: Readonly<Record<string, Check>>; call(params: Params, owner: string): FileCall };

const NOTHING = () => ({});
const isOptionalFlag: Check = (value) => (value === null ? undefined : isBoolean(value));
const HANDLE = { handleId: isString(256) };

const CALLS: Readonly<Record<string, Reader>> = {
  "fs/getMetadata": {
    call: ({ path }) =>
      reading({ op: "stat", path: pathOf(path) }, ({ facts }) => ({
        isDirectory: facts?.kind === "directory",
        isFile: facts?.kind === "file",
        isSymlink: facts?.isLink === true,
        size: facts?.size ?? 0,
        createdAtMs: facts?.createdAtMs ?? 0,
        modifiedAtMs: facts?.modifiedAtMs ?? 0,
      })),
  },
  "fs/readFile": {
    call: ({ path }) =>
      reading({ op: "read", path: pathOf(path), maxBytes: MAX_WHOLE_BYTES }, (_, data) => ({ dataBase64: data })),
  },
  "fs/writeFile": {
    shape: { dataBase64: isString(MAX_WHOLE_BYTES * 2) },
    call: ({ path, dataBase64 }) => {
      const data = String(dataBase64);
      requireBase64(data, MAX_WHOLE_BYTES, "dataBase64");
      return { ...writing({ op: "write", path: pathOf(path) }), data };
    },
  },
  "fs/createDirectory": {
    shape: { "recursive?": isOptionalFlag },
    call: ({ path, recursive }) => writing({ op: "mkdir", path: pathOf(path), recursive: recursive !== false }),
  },
  "fs/readDirectory": {
    call: ({ path }) =>
      reading({ op: "list", path: pathOf(path) }, ({ entries = [] }) => ({
        entries: entries.map(({ name, kind }) => ({
          fileName: name,
          isDirectory: kind === "directory",
          isFile: kind === "file",
        })),
      })),
  },
  "fs/walk": {
    shape: { options: (value) => (isRecord(value) ? undefined : "must be an object") },
    call: ({ path, options }) => walking(pathOf(path), options as Params),
  },
  "fs/canonicalize": {
    call: ({ path }) => reading({ op: "real", path: pathOf(path) }, (answer) => ({ path: uriOf(answer.path ?? "/") })),
  },
  "fs/remove": {
    shape: { "recursive?": isOptionalFlag, "force?": isOptionalFlag },
    call: ({ path, recursive, force }) =>
      writing({ op: "remove", path: pathOf(path), recursive: recursive !== false, force: force !== false }),
  },
  "fs/copy": {
    shape: { recursive: isBoolean },
    call: ({ sourcePath, destinationPath, recursive }) => ({
      ...writing({ op: "copy", path: pathOf(sourcePath), to: pathOf(destinationPath), recursive: recursive === true }),
      path: `${pathOf(sourcePath)} to ${pathOf(destinationPath)}`,
    }),
  },
  "fs/open": {
    shape: HANDLE,
    call: ({ handleId, path }, owner) =>
      reading({ op: "open", owner, handle: String(handleId), path: pathOf(path) }, () => ({ handleId })),
  },
  "fs/readBlock": {
    shape: { ...HANDLE, offset: isOffset, len: isOffset },
    call: ({ handleId, offset, len }, owner) => {
      if (Number(len) > MAX_BLOCK_BYTES) throw bad(`a block has at most ${MAX_BLOCK_BYTES} bytes`);
      const [handle, length] = [String(handleId), Number(len)];
      const order = { op: "block", owner, handle, offset: Number(offset), length } as const;
      return {
        ...reading(order, ({ isEnd }, data) => ({ chunk: data, eof: isEnd === true })),
        path: `handle ${handle}`,
      };
    },
  },
  "fs/close": {
    shape: HANDLE,
    call: ({ handleId }, owner) => ({
      ...reading({ op: "close", owner, handle: String(handleId) }, NOTHING),
      path: `handle ${String(handleId)}`,
    }),
  },
};

/** @param owner Of open handles. @returns undefined if there is no such call. @throws {CodexError} */
export function fileCallOf(method: string, params: unknown, owner: string): FileCall | undefined {
  const reader = Object.hasOwn(CALLS, method) ? CALLS[method] : undefined;
  if (reader === undefined) return undefined;
  checkParams(params, reader.shape ?? {});
  requireNoSandbox(params);
  return reader.call(params, owner);
}

/** @throws {CodexError} Where it failed. */
export function requireDone(answer: FileAnswer): FileSuccess {
  if (answer.ok) return answer;
  throw new CodexError(codeOf(answer), answer.message);
}

function codeOf({ code }: FileFailure): number {
  if (code === "ENOENT") return ERROR.notFound;
  return code === "EINVAL" || code === "EFBIG" ? ERROR.badParams : ERROR.failed;
}

function walking(path: string, options: Params): FileCall {
  const most = (name: string, limit: number) => {
    const value = options[name];
    return typeof value === "number" && value >= 0 ? Math.min(value, limit) : limit;
  };
  const order = {
    op: "walk",
    path,
    maxEntries: most("maxEntries", MAX_WALKED),
    maxDepth: most("maxDepth", Number.MAX_SAFE_INTEGER),
    maxDirectories: most("maxDirectories", MAX_WALKED),
    followLinks: options.followDirectorySymlinks === true,
  } as const;
  return reading(order, ({ entries = [], errors = [], truncated = false }) => ({
    entries: entries
      .filter(({ kind }) => kind === "directory" || kind === "file")
      .map(({ name, kind }) => ({ path: uriOf(name), kind })),
    errors: errors.map((one) => ({ path: uriOf(one.path), message: one.message })),
    truncated,
  }));
}

function reading(order: FileOrder, result: FileCall["result"]): FileCall {
  return { order, writes: false, path: "path" in order ? order.path : "", result };
}

function writing(order: FileOrder): FileCall {
  return { order, writes: true, path: "path" in order ? order.path : "", result: NOTHING };
}

function bad(message: string): CodexError {
  return new CodexError(ERROR.badParams, message);
}
