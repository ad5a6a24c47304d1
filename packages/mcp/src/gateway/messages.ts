// Reads a client's request: its messages, as lines for the server, and its revision. Reads no more of them than it must.

export type Message = Readonly<Record<string, unknown>>;

/** One message. `id` is that of a request, as JSON, so that 1 and "1" differ. */
export type Sent = {
  /** In one line, without its end. */
  readonly line: string;
  readonly method?: string;
  readonly id?: string;
  /** The token by which its progress is told, as JSON. */
  readonly progressToken?: string;
  /** The request that it cancels, as JSON of its id. */
  readonly cancels?: string;
};

export type Body =
  | { readonly ok: true; readonly sent: readonly Sent[]; readonly messages: readonly Message[] }
  | { readonly ok: false; readonly code: number; readonly message: string };

const MAX_BATCH = 100;
/** Longest id or token, as JSON. Each is kept while its request is open, and read from responses that are too long. */
const MAX_ID_CHARACTERS = 512;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** Revisions that a server on stdio speaks with `initialize`. */
const KNOWN = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/** From this revision on a stream begins with an event of its id alone, so that it can be resumed before anything came. */
export const PRIMED_SINCE = "2025-11-25";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

type Fault = Extract<Body, { ok: false }>;
type Parsed = { readonly ok: true; readonly isBatch: boolean; readonly list: readonly unknown[] };

/** Why a text is neither JSON of one message nor a batch of a few; looks at no message. */
export function batchFault(text: string): Fault | undefined {
  const parsed = parsedOf(text);
  return parsed.ok ? undefined : parsed;
}

function parsedOf(text: string): Parsed | Fault {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { ok: false, code: PARSE_ERROR, message: "the body is not JSON" };
  }
  const isBatch = Array.isArray(parsed);
  const list: readonly unknown[] = isBatch ? (parsed as unknown[]) : [parsed];
  if (list.length === 0 || list.length > MAX_BATCH) return invalid(`a batch has 1 to ${MAX_BATCH} messages`);
  return { ok: true, isBatch, list };
}

/** Reads a body: one message, or a batch (revision 2025-03-26). */
export function readBody(text: string): Body {
  const parsed = parsedOf(text);
  if (!parsed.ok) return parsed;
  const { isBatch, list } = parsed;
  const sent: Sent[] = [];
  const messages: Message[] = [];
  for (const one of list) {
    if (!isMessage(one)) return invalid("a message is an object of JSON-RPC 2.0");
    messages.push(one);
    // A line end in JSON is never inside a string: it may as well be a space.
    const line = isBatch ? lineOf(one) : text.replace(/[\r\n]/g, " ");
    if (line === undefined) return invalid("a message of the batch is nested too deeply");
    sent.push(sentOf(one, line));
  }
  return { ok: true, sent, messages };
}

/** Undefined where it is nested so deeply that it can be read, and not be written. */
function lineOf(message: Message): string | undefined {
  try {
    return JSON.stringify(message);
  } catch {
    return undefined;
  }
}

/** An id or a token of JSON-RPC and MCP, as JSON, so that 1 and "1" differ. Anything else is none, whatever it is. */
export function keyOf(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const key = JSON.stringify(value);
  return key.length <= MAX_ID_CHARACTERS ? key : undefined;
}

export function isInitialize({ method, id }: Message): boolean {
  return method === "initialize" && id !== undefined;
}

/** The revision that a request names, in its header or in itself. */
export function versionOf(header: string | null, messages: readonly Message[]): string | undefined {
  if (header !== null) return header;
  for (const { params } of messages) {
    const { protocolVersion, _meta } = asRecord(params);
    const version = asRecord(_meta)[VERSION_KEY] ?? protocolVersion;
    if (typeof version === "string") return version;
  }
  return undefined;
}

/** Whether a request is one that only a server of a newer revision can answer. An `initialize` is negotiated by the server. */
export function needsNewerServer(header: string | null, messages: readonly Message[]): boolean {
  if (header !== null && !KNOWN.includes(header)) return true;
  return messages.some(({ method, params }) => {
    return method === "server/discover" || asRecord(asRecord(params)._meta)[VERSION_KEY] !== undefined;
  });
}

function isMessage(value: unknown): value is Message {
  const { jsonrpc, method, id } = asRecord(value);
  const hasId = keyOf(id) !== undefined;
  return jsonrpc === "2.0" && (typeof method === "string" || hasId) && (id === undefined || hasId);
}

function sentOf({ method, id, params }: Message, line: string): Sent {
  if (typeof method !== "string") return { line };
  if (id === undefined) {
    const { requestId } = asRecord(params);
    const cancels = method === "notifications/cancelled" ? keyOf(requestId) : undefined;
    return cancels === undefined ? { line, method } : { line, method, cancels };
  }
  const progressToken = keyOf(asRecord(asRecord(params)._meta).progressToken);
  const told = progressToken === undefined ? {} : { progressToken };
  return { line, method, id: JSON.stringify(id), ...told };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function invalid(message: string): Fault {
  return { ok: false, code: INVALID_REQUEST, message };
}
