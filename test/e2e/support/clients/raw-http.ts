// Requests byte for byte: what no client would send, since it would put it right first.
import { connect as dial } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { LIMIT_MS } from "../system/wait.ts";

export type RawAnswer = {
  /** 0: the connection ended without an answer. */
  readonly status: number;
  /** Of a WebSocket: all that its frames hold. */
  readonly body: string;
  /** Of a WebSocket: the code that it was closed with; 0 where it was not closed. */
  readonly code?: number;
};

export const UPGRADE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
] as const;

export interface RawOptions {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Said in text once the WebSocket is open. */
  readonly first?: string;
  /** How long a WebSocket, or a stream of events, may go on talking before it is taken for one that let somebody in. */
  readonly patienceMs?: number;
  /** How long the first byte of an answer is waited for. Absent: until that fails. */
  readonly silenceMs?: number;
}

/**
 * @param target What stands between method and version, as it is; characters are bytes.
 * @throws {Error} Where no answer comes.
 */
export function rawRequest(address: string, target: string, options: RawOptions = {}): Promise<RawAnswer> {
  const { method = "GET", headers = [], body = "", first, patienceMs = 2_000, silenceMs } = options;
  const { hostname, port, host } = new URL(address);
  const length = body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body, "latin1")}`];
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...headers, ...length, "", ""].join("\r\n");
  return new Promise((resolve, reject) => {
    const socket = dial(Number(port), hostname);
    let received = Buffer.alloc(0);
    const unanswered = new Error(`No answer to ${method} ${target.slice(0, 80)}`);
    let timer = setTimeout(
      () => socket.destroy(silenceMs === undefined ? unanswered : undefined),
      silenceMs ?? LIMIT_MS,
    );
    let isOpen = false;
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (!isOpen && hasNoEnd(received)) {
        isOpen = true;
        clearTimeout(timer);
        timer = setTimeout(() => socket.destroy(), patienceMs);
        if (first !== undefined && statusOf(received) === 101) socket.write(textFrame(first));
      }
      if (isEnd(received) || (method === "HEAD" && received.includes("\r\n\r\n"))) socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // Who is sent what is no HTTP may hang up.
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(answerIn(received));
    });
    socket.write(Buffer.from(head + body, "latin1"));
  });
}

/** As a client sends it, masked with zeros. */
function textFrame(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = bytes.length < 126 ? Buffer.from([0x81, 0x80 | bytes.length]) : Buffer.from([0x81, 0xfe, 0, 0]);
  if (bytes.length >= 126) head.writeUInt16BE(bytes.length, 2);
  return Buffer.concat([head, Buffer.alloc(4), bytes]);
}

const statusOf = (bytes: Buffer): number =>
  Number(/^HTTP\/1\.1 (\d{3})/.exec(bytes.toString("latin1", 0, 16))?.[1] ?? 0);

/** Whether its head says that the answer goes on for as long as both sides like. */
function hasNoEnd(bytes: Buffer): boolean {
  const at = bytes.indexOf("\r\n\r\n");
  if (at < 0) return false;
  return statusOf(bytes) === 101 || /^content-type: *text\/event-stream/im.test(bytes.toString("latin1", 0, at));
}

function isEnd(bytes: Buffer): boolean {
  const at = bytes.indexOf("\r\n\r\n");
  if (at < 0) return false;
  const status = statusOf(bytes);
  if (status === 101) return answerIn(bytes).code !== 0;
  if (status === 204 || status === 304) return true;
  const head = bytes.toString("latin1", 0, at);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (length !== undefined) return bytes.length >= at + 4 + Number(length);
  return /^transfer-encoding: *chunked/im.test(head) && bytes.toString("latin1").endsWith("\r\n0\r\n\r\n");
}

/** What has come of an answer so far. */
export function answerIn(bytes: Buffer): RawAnswer {
  const at = bytes.indexOf("\r\n\r\n");
  const status = statusOf(bytes);
  if (status !== 101) return { status, body: at < 0 ? "" : bytes.toString("utf8", at + 4) };
  const heard: Buffer[] = [];
  let code = 0;
  for (let next = at + 4; next + 2 <= bytes.length && code === 0; ) {
    const opcode = (bytes[next] ?? 0) & 0x0f;
    let length = (bytes[next + 1] ?? 0) & 0x7f;
    next += 2;
    if (length === 126) {
      length = next + 2 <= bytes.length ? bytes.readUInt16BE(next) : bytes.length;
      next += 2;
    } else if (length === 127) {
      length = next + 8 <= bytes.length ? Number(bytes.readBigUInt64BE(next)) : bytes.length;
      next += 8;
    }
    if (next + length > bytes.length) break;
    const payload = bytes.subarray(next, next + length);
    if (opcode === 8) code = length >= 2 ? payload.readUInt16BE(0) : 1005;
    else heard.push(payload);
    next += length;
  }
  return { status, body: Buffer.concat(heard).toString(), code };
}

/** Sends the request of an upgrade, and RST `ms` later. */
export function resetUpgrade(origin: string, path: string, headers: readonly string[], ms: number): Promise<void> {
  const { hostname, port, host } = new URL(origin);
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...UPGRADE, ...headers];
  return new Promise((resolve) => {
    const socket = dial(Number(port), hostname);
    socket.on("error", () => undefined); // A close follows.
    socket.once("close", () => resolve());
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, async () => {
      await delay(ms);
      socket.resetAndDestroy();
    });
  });
}
