// The messages of codex' exec-server (section 12): one JSON text each, requests with an id, answers by it, and notifications. Reads
// what a client says; knows no sockets and no processes.

import { isRecord } from "../wire/schema.ts";

/** By this header a client says that it fetches output by *process/read*, and is not to be told of it. */
export const CODEX_PULL_HEADER = "X-Stdio-Codex-Pull";

/** Bytes of a message at most. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export const ERROR = {
  failed: -32_000,
  notFound: -32_004,
  invalidRequest: -32_600,
  unknownMethod: -32_601,
  badParams: -32_602,
} as const;

export class CodexError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export type RequestId = number | string;

export type CodexRequest = {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
};

export type CodexMessage =
  | CodexRequest
  | { readonly kind: "notification" }
  /** To be answered with an error that has no id. */
  | { readonly kind: "invalid" };

/** @returns undefined where the text is not JSON: the connection is of no use. */
export function parseMessage(text: string): CodexMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return { kind: "invalid" };
  const { id, method, params } = value;
  // An answer to nothing that was asked.
  if (method === undefined && (value.result !== undefined || value.error !== undefined))
    return { kind: "notification" };
  if (typeof method !== "string") return { kind: "invalid" };
  if (id === undefined) return { kind: "notification" };
  const isId = (typeof id === "string" && id.length <= 256) || Number.isSafeInteger(id);
  return isId ? { kind: "request", id: id as RequestId, method, params } : { kind: "invalid" };
}

/** The path of a `file:` URI of this machine. @throws {CodexError} */
export function pathOf(uri: string): string {
  const [, path = "%"] = /^file:\/\/(?:localhost)?(\/[^?#]*)$/i.exec(uri) ?? [];
  let decoded = "\0";
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // A lone percent sign, or bytes that are not UTF-8.
  }
  if (decoded.includes("\0")) throw new CodexError(ERROR.badParams, "a path must be an absolute file: URI");
  // A slash at the end would stand twice in the paths below it.
  return decoded.replace(/(?<=.)\/+$/, "");
}

export function uriOf(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}
