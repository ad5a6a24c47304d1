// The messages of codex' exec-server (section 12): one JSON text each, requests with an id, answers by it, and notifications. Reads
// what a client says; knows no sockets and no processes.

import { utf8Length } from "../text/utf8.ts";
import {
  type Check,
  checkShape,
  isArrayOf,
  isBoolean,
  isInteger,
  isOffset,
  isRecord,
  isString,
} from "../wire/schema.ts";

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

export type CodexMessage =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string }
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
  if (method === undefined && (value.result !== undefined || value.error !== undefined)) {
    return { kind: "notification", method: "" };
  }
  if (typeof method !== "string") return { kind: "invalid" };
  if (id === undefined) return { kind: "notification", method };
  const isId = (typeof id === "string" && id.length <= 256) || Number.isSafeInteger(id);
  return isId ? { kind: "request", id: id as RequestId, method, params } : { kind: "invalid" };
}

// ---- Parameters ----------------------------------------------------------------------------------------------------

type Checks = Readonly<Record<string, Check>>;

const orNull =
  (check: Check): Check =>
  (value) =>
    value === null ? undefined : check(value);
const isTexts: Check = (value) =>
  isRecord(value) && Object.values(value).every((text) => typeof text === "string") ? undefined : "must hold texts";
const isWords = isArrayOf(isString(1024 * 1024), 65_536);
/** As a process id is to be: 1 to 256 bytes. */
const isProcessId: Check = (value) =>
  typeof value === "string" && value !== "" && utf8Length(value) <= 256 ? undefined : "must have 1 to 256 bytes";

const POLICY: Checks = {
  inherit: (value) => (["all", "core", "none"].includes(String(value)) ? undefined : "must be all, core or none"),
  "ignoreDefaultExcludes?": isBoolean,
  "exclude?": isWords,
  "set?": isTexts,
  "includeOnly?": isWords,
};

const SHAPES = {
  initialize: { clientName: isString(256), "resumeSessionId?": orNull(isString(256)) },
  "process/start": {
    processId: isProcessId,
    argv: isWords,
    cwd: isString(16_384),
    env: isTexts,
    "envPolicy?": orNull((value) => (isRecord(value) ? checkShape(value, POLICY) : "must be an object")),
    tty: isBoolean,
    "pipeStdin?": isBoolean,
    "arg0?": orNull(isString(4_096)),
    "enforceManagedNetwork?": isBoolean,
  },
  "process/read": {
    processId: isProcessId,
    "afterSeq?": orNull(isOffset),
    "maxBytes?": orNull(isOffset),
    "waitMs?": orNull(isInteger(0, 600_000)),
  },
  "process/write": { processId: isProcessId, chunk: isString(MAX_MESSAGE_BYTES), writeId: isString(256) },
  "process/signal": {
    processId: isProcessId,
    signal: (value) => (value === "interrupt" ? undefined : "must be interrupt"),
  },
  "process/terminate": { processId: isProcessId },
} satisfies Readonly<Record<string, Checks>>;

export type EnvPolicy = {
  readonly inherit: "all" | "core" | "none";
  readonly ignoreDefaultExcludes?: boolean;
  readonly exclude?: readonly string[];
  readonly set?: Readonly<Record<string, string>>;
  readonly includeOnly?: readonly string[];
};

export type CodexParams = {
  initialize: { readonly clientName: string; readonly resumeSessionId?: string | null };
  "process/start": {
    readonly processId: string;
    readonly argv: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly envPolicy?: EnvPolicy | null;
    readonly tty: boolean;
    readonly pipeStdin?: boolean;
    readonly arg0?: string | null;
  };
  "process/read": {
    readonly processId: string;
    readonly afterSeq?: number | null;
    readonly maxBytes?: number | null;
    readonly waitMs?: number | null;
  };
  "process/write": { readonly processId: string; readonly chunk: string; readonly writeId: string };
  "process/signal": { readonly processId: string; readonly signal: "interrupt" };
  "process/terminate": { readonly processId: string };
};

/** @throws {CodexError} If a parameter is missing or wrong. */
export function readParams<M extends keyof CodexParams>(method: M, params: unknown): CodexParams[M] {
  checkParams(params, SHAPES[method]);
  if (method === "process/start") requireNoSandbox(params as Record<string, unknown>);
  // The shapes are those of the types.
  return params as CodexParams[M];
}

/** @throws {CodexError} */
export function checkParams(params: unknown, shape: Checks): asserts params is Record<string, unknown> {
  const problem = isRecord(params) ? checkShape(params, shape) : "the parameters must be an object";
  if (problem !== undefined) throw new CodexError(ERROR.badParams, problem);
}

/** E3: nobody may think that something is confined here which is not. @throws {CodexError} */
export function requireNoSandbox({ sandbox, enforceManagedNetwork }: Readonly<Record<string, unknown>>): void {
  const permissions = isRecord(sandbox) ? sandbox.permissions : undefined;
  const isFree =
    sandbox === undefined || sandbox === null || (isRecord(permissions) && permissions.type === "disabled");
  if (isFree && enforceManagedNetwork !== true) return;
  throw new CodexError(ERROR.badParams, "no sandbox here: the container is the sandbox");
}

/** @throws {CodexError} */
export function requireBase64(text: string, maxBytes: number, name: string): void {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    throw new CodexError(ERROR.badParams, `"${name}" must be base64`);
  }
  const bytes = (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
  if (bytes > maxBytes) throw new CodexError(ERROR.badParams, `"${name}" has more than ${maxBytes} bytes`);
}

// ---- Paths ---------------------------------------------------------------------------------------------------------

/** The path of a `file:` URI, which is of this machine. @throws {CodexError} */
export function pathOf(uri: unknown): string {
  const [, path] = (typeof uri === "string" ? /^file:\/\/(?:localhost)?(\/[^?#]*)$/i.exec(uri) : undefined) ?? [];
  const decoded = path === undefined ? undefined : decode(path);
  if (decoded === undefined || decoded.includes("\0")) {
    throw new CodexError(ERROR.badParams, "a path must be an absolute file: URI");
  }
  return decoded;
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined; // A lone percent sign, or bytes that are not UTF-8.
  }
}

export function uriOf(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}
