// A codex client on standard input and output that no outage ends (section 11): what it asks is kept until it is answered, on as many
// connections as that takes, and its processes' output is fetched by calls, so that nothing is lost between two of them. Decides only.

import { isRecord } from "../wire/schema.ts";
import { ERROR, type RequestId } from "./messages.ts";

/** Ids of the relay's own requests: no client's is one. */
const OWN = "sbx:";
const READ_BYTES = 256 * 1024;
const READ_MS = 50_000;
const MAX_PENDING = 1_024;

export interface RelayPorts {
  /** To the client. */
  say(line: string): void;
  /** To the server, on the connection that is open. */
  send(text: string): void;
  /** The server refuses to go on: the client's session is over. */
  over(message: string): void;
  /** Does something after a while. */
  later(task: () => void): void;
}

type Pending = { readonly text: string; readonly method: string; isSent: boolean };
type Process = { after: number; isReading: boolean };
type Message = Readonly<Record<string, unknown>>;

export class StdioRelay {
  readonly #ports: RelayPorts;
  /** What the client asks, by id as JSON, in its order. */
  readonly #pending = new Map<string, Pending>();
  readonly #processes = new Map<string, Process>();
  #session: string | undefined;
  #isOpen = false;
  #isReady = false;
  #left: (() => void) | undefined;

  constructor(ports: RelayPorts) {
    this.#ports = ports;
  }

  // ---- The client --------------------------------------------------------------------------------------------------

  /** A line of the client's. */
  line(text: string): void {
    const message = read(text);
    if (message === undefined) {
      this.#ports.say(JSON.stringify({ id: null, error: { code: ERROR.invalidRequest, message: "not JSON" } }));
      return;
    }
    const { id, method } = message;
    // Notifications of a client's are of no consequence.
    if (id === undefined || typeof method !== "string") return;
    if (this.#pending.size >= MAX_PENDING) {
      this.#fail(id, `${MAX_PENDING} requests are not answered yet`);
      return;
    }
    const pending: Pending = { text, method, isSent: false };
    this.#pending.set(JSON.stringify(id), pending);
    // The first of all makes the session.
    if (this.#isReady || (this.#isOpen && method === "initialize" && this.#session === undefined)) this.#send(pending);
  }

  /** The client has gone, and nobody comes back for what it has started. @param done Called once that has ended, or can't be reached. */
  leave(done: () => void): void {
    this.#left = done;
    if (!this.#isReady) this.#processes.clear();
    for (const processId of this.#processes.keys()) {
      this.#ports.send(
        JSON.stringify({ id: `${OWN}end ${processId}`, method: "process/terminate", params: { processId } }),
      );
    }
    this.#forget();
  }

  #forget(processId?: string): void {
    if (processId !== undefined) this.#processes.delete(processId);
    if (this.#processes.size === 0) this.#left?.();
  }

  // ---- The connection ----------------------------------------------------------------------------------------------

  opened(): void {
    this.#isOpen = true;
    if (this.#session === undefined) {
      for (const pending of this.#pending.values()) if (pending.method === "initialize") this.#send(pending);
      return;
    }
    const params = { clientName: "sbx-stdio", resumeSessionId: this.#session };
    this.#ports.send(JSON.stringify({ id: `${OWN}resume`, method: "initialize", params }));
  }

  closed(): void {
    this.#isOpen = false;
    this.#isReady = false;
    for (const process of this.#processes.values()) process.isReading = false;
    this.#left?.();
  }

  /** A text of the server's. */
  received(text: string): void {
    const message = read(text);
    // Notifications: output is fetched.
    if (message === undefined || message.id === undefined || message.id === null) return;
    const { id } = message;
    if (typeof id === "string" && id.startsWith(OWN)) {
      this.#ownAnswer(id.slice(OWN.length), message);
      return;
    }
    const key = JSON.stringify(id);
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    this.#pending.delete(key);
    this.#ports.say(text);
    this.#follow(pending, message);
  }

  #follow({ method, text }: Pending, { result }: Message): void {
    if (!isRecord(result)) return;
    if (method === "initialize" && typeof result.sessionId === "string") {
      this.#session = result.sessionId;
      this.#ready();
    } else if (method === "process/start") {
      const { params } = read(text) ?? {};
      const id = isRecord(params) ? params.processId : undefined;
      if (typeof id !== "string" || this.#processes.has(id)) return;
      this.#processes.set(id, { after: 0, isReading: false });
      this.#read(id);
    }
  }

  #ready(): void {
    this.#isReady = true;
    for (const [key, pending] of [...this.#pending]) {
      // Twice it could do more than once, or fail for having been done: and whether it was is not known.
      if (pending.isSent && !isRepeatable(pending)) {
        this.#pending.delete(key);
        this.#fail(JSON.parse(key) as RequestId, "the connection broke: it may have been done, or not");
      } else this.#send(pending);
    }
    for (const id of this.#processes.keys()) this.#read(id);
  }

  #send(pending: Pending): void {
    pending.isSent = true;
    this.#ports.send(pending.text);
  }

  #fail(id: unknown, message: string): void {
    this.#ports.say(JSON.stringify({ id, error: { code: ERROR.failed, message } }));
  }

  // ---- Output ------------------------------------------------------------------------------------------------------

  #read(processId: string): void {
    const process = this.#processes.get(processId);
    if (process === undefined || process.isReading || !this.#isReady) return;
    process.isReading = true;
    const params = { processId, afterSeq: process.after, maxBytes: READ_BYTES, waitMs: READ_MS };
    this.#ports.send(JSON.stringify({ id: `${OWN}read ${processId}`, method: "process/read", params }));
  }

  #ownAnswer(what: string, { result, error }: Message): void {
    if (what.startsWith("end ")) {
      this.#forget(what.slice("end ".length));
      return;
    }
    if (what === "resume") {
      if (isRecord(result)) this.#ready();
      else this.#ports.over(isRecord(error) ? String(error.message) : "the session can't be resumed");
      return;
    }
    const processId = what.replace(/^read /, "");
    const process = this.#processes.get(processId);
    if (process === undefined) return;
    process.isReading = false;
    if (!isRecord(result)) {
      // The server could not reach it just now; or it never was.
      if (isRecord(error) && error.code === ERROR.invalidRequest) this.#forget(processId);
      else this.#ports.later(() => this.#read(processId));
      return;
    }
    const { chunks, closed, exitCode, nextSeq } = result;
    for (const chunk of Array.isArray(chunks) ? (chunks as Message[]) : []) {
      process.after = Number(chunk.seq);
      this.#notify("process/output", { processId, seq: chunk.seq, stream: chunk.stream, chunk: chunk.chunk });
    }
    if (closed !== true) {
      this.#read(processId);
      return;
    }
    // The numbers behind the output are those of its end.
    const last = Number(nextSeq) - 1;
    this.#notify("process/exited", { processId, seq: last - 1, exitCode, sandboxDenied: false });
    this.#notify("process/closed", { processId, seq: last });
    this.#forget(processId);
  }

  #notify(method: string, params: object): void {
    this.#ports.say(JSON.stringify({ method, params }));
  }
}

function isRepeatable({ method, text }: Pending): boolean {
  const { params } = read(text) ?? {};
  const { force, recursive } = isRecord(params) ? params : {};
  if (method === "fs/remove") return force !== false;
  if (method === "fs/createDirectory") return recursive !== false;
  return method !== "process/signal" && method !== "fs/open";
}

function read(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
