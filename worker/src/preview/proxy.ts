// A browser's request to a server in the sandbox, and its answer: through the bridge, which reaches servers that listen on the
// loopback alone. Bodies pass as they come; a container is never started for them.

import {
  CLOSE,
  cookiesToBrowser,
  defined,
  type HeaderList,
  headersToBrowser,
  headersToServer,
  MIB,
  PREVIEW_LEAD,
  PREVIEW_PATH,
  PREVIEW_PREFIX,
  PREVIEW_STATUS,
  type PreviewEnds,
} from "sandbox-stdio/core";
import { tenantKey } from "../auth/names.ts";
import { closeSocket } from "../base/close-socket.ts";
import { log } from "../base/log.ts";
import { readText } from "../base/read-text.ts";
import { type BridgeEnv, fetchBridge, isAwake } from "../bridge/upstream.ts";
import type { TenantsEnv } from "../limits/limit-calls.ts";
import { type LimitEnv, readLimits } from "../limits/limits.ts";
import { readSaid } from "../sandbox/said.ts";
import { queuedBytes, TELLS_QUEUE } from "../sockets/client-sockets.ts";
import { sharedPool, type UnacknowledgedPool } from "../sockets/unacknowledged.ts";
import { said } from "./pages.ts";
import type { PreviewPass } from "./pass.ts";

export type ProxyEnv = BridgeEnv & LimitEnv & TenantsEnv;

const MAX_BODY_BYTES = 100 * MIB;
/** Most open requests of one browser at one Worker. A page makes six at a time, or a hundred over HTTP/2. */
const MAX_OPEN = 256;
/** An answer that takes longer is watched: it ends with its pass. */
const LONG_MS = 2_000;
const MAX_REFUSAL_BYTES = 16 * 1024;
const REFUSAL_PATIENCE_MS = 5_000;
const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

const open = new Map<string, number>();

/** A browser's request that was let in, and where it goes. */
export type PreviewRequest = {
  readonly request: Request;
  readonly pass: PreviewPass;
  readonly sandboxKey: string;
  readonly ends: PreviewEnds;
};

export async function passOn(asked: PreviewRequest, env: ProxyEnv): Promise<Response> {
  const { request, pass, sandboxKey } = asked;
  const tooLong = () =>
    said(request, 413, "too_long", "Too long", `A request has at most ${MAX_BODY_BYTES / MIB} MiB here.`);
  if (Number(request.headers.get("Content-Length") ?? 0) > MAX_BODY_BYTES) return tooLong();
  // Before anything is waited for, or others would come in meanwhile.
  const done = takePlace(pass.id, request.signal);
  if (done === undefined) {
    return said(request, 429, "too_many", "Too many", `A preview has at most ${MAX_OPEN} requests open.`);
  }
  let isTooLong = false;
  try {
    if (!(await isAwake(env, sandboxKey))) {
      done();
      const text = `Nothing runs in the sandbox ${pass.sandbox}: open a session there, and start the server.`;
      return said(request, 503, "asleep", "The sandbox is asleep", text);
    }
    const answer = await askBridge(asked, env, () => {
      isTooLong = true;
    });
    if (answer.webSocket !== null) {
      const pool = unacknowledgedPool(readLimits(env).unacknowledgedBytes);
      return joinSockets(answer, (end) => watchPass(env, pass, end), done, pool);
    }
    const status = Number(answer.headers.get(PREVIEW_STATUS) ?? 0);
    if (status >= 200 && status <= 599) return await toBrowser(asked, answer, status, env, done);
    done();
    return await refused(asked, answer);
  } catch (error) {
    done();
    if (isTooLong) return tooLong();
    log.warn("no way to a preview's server:", error);
    return said(request, 503, "unavailable", "The sandbox can't be reached", "Try again in a moment.");
  }
}

/** @returns How to give it back; undefined where all are taken. It is back, too, once the browser has gone. */
function takePlace(id: string, signal: AbortSignal): (() => void) | undefined {
  const taken = open.get(id) ?? 0;
  if (taken >= MAX_OPEN) return undefined;
  open.set(id, taken + 1);
  let isBack = false;
  const giveBack = () => {
    if (isBack) return;
    isBack = true;
    const left = (open.get(id) ?? 1) - 1;
    if (left > 0) open.set(id, left);
    else open.delete(id);
  };
  // The last that the runtime runs for a browser that has gone: no promise of its request is settled after that.
  signal.addEventListener("abort", giveBack);
  if (signal.aborted) giveBack();
  return giveBack;
}

async function askBridge(
  { request, pass, sandboxKey, ends }: PreviewRequest,
  env: ProxyEnv,
  tooLong: () => void,
): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, body } = request;
  const isUpgrade = request.headers.get("Upgrade")?.toLowerCase() === "websocket";
  const query = { sandbox: sandboxKey, port: String(pass.port), method, path: pathname + search, [PREVIEW_LEAD]: "1" };
  const headers = new Headers();
  for (const [name, value] of headersToServer([...request.headers], ends)) headers.append(PREVIEW_PREFIX + name, value);
  if (isUpgrade) {
    headers.set("Upgrade", "websocket");
    const offered = request.headers.get("Sec-WebSocket-Protocol");
    if (offered !== null) headers.set("Sec-WebSocket-Protocol", offered);
  }
  const init: RequestInit = {
    method: body === null ? "GET" : "POST",
    headers,
    ...defined({
      body: body === null ? undefined : bounded(body, tooLong),
      signal: isUpgrade ? undefined : request.signal,
    }),
  };
  return fetchBridge(env, sandboxKey, `${PREVIEW_PATH}?${new URLSearchParams(query)}`, init);
}

/** A body may come without saying how long it is. @param tooLong Called before it fails. */
function bounded(body: ReadableStream<Uint8Array>, tooLong: () => void): ReadableStream<Uint8Array> {
  let bytes = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength;
        if (bytes <= MAX_BODY_BYTES) controller.enqueue(chunk);
        else {
          tooLong();
          controller.error(new Error("a preview's request is too long"));
        }
      },
    }),
  );
}

/** Without the byte of the bridge's own, which one of an older image does not send. */
async function bodyOf({ headers, body }: Response): Promise<Response["body"]> {
  if (body === null || !headers.has(PREVIEW_LEAD)) return body;
  const reader = body.getReader({ mode: "byob" });
  const { done } = await reader.read(new Uint8Array(1));
  if (done) throw new Error("a preview's answer has no beginning");
  reader.releaseLock();
  return body;
}

async function toBrowser(
  { request, pass, ends }: PreviewRequest,
  answer: Response,
  status: number,
  env: ProxyEnv,
  done: () => void,
): Promise<Response> {
  const theirs = [...answer.headers].flatMap(([name, value]): HeaderList => {
    const isTheirs = name.startsWith(PREVIEW_PREFIX) && name !== PREVIEW_STATUS;
    return isTheirs ? [[name.slice(PREVIEW_PREFIX.length), value]] : [];
  });
  const headers = new Headers(headersToBrowser(theirs, ends).map(([name, value]) => [name, value]));
  for (const cookie of cookiesToBrowser(answer.headers.getSetCookie(), ends)) headers.append("Set-Cookie", cookie);
  // As the server has encoded it: nothing here reads it.
  const init = { status, headers, encodeBody: "manual" } as const;
  const body = await bodyOf(answer);
  if (body === null || request.method === "HEAD" || NO_BODY.has(status)) {
    done();
    void body?.cancel().catch(() => undefined); // Where it has broken off, nothing of it is missing.
    return new Response(null, init);
  }
  const length = Number(headers.get("Content-Length") ?? Number.NaN);
  const { readable, writable } = length >= 0 ? new FixedLengthStream(length) : new IdentityTransformStream();
  const stopped = new AbortController();
  let stopWatching: () => void = () => undefined;
  const timer = setTimeout(() => {
    stopWatching = watchPass(env, pass, () => stopped.abort(timeIsOver()));
  }, LONG_MS);
  const ended = () => {
    clearTimeout(timer);
    stopWatching();
    done();
  };
  // Where either side breaks off, the other's end is its answer.
  void body.pipeTo(writable, { signal: stopped.signal }).then(ended, ended);
  return new Response(readable, init);
}

/** The browser has to see that something is missing. As of a lost connection: any other error the runtime logs as uncaught. */
function timeIsOver(): Error {
  return Object.assign(new Error("the preview's time is over"), { retryable: true });
}

/** The bridge's own words, or those of what stands before it. */
async function refused({ request, pass }: PreviewRequest, answer: Response): Promise<Response> {
  const { port, sandbox } = pass;
  const { text } = await readText(answer, MAX_REFUSAL_BYTES, REFUSAL_PATIENCE_MS);
  const { error } = readSaid(text);
  const where = `port ${port} of the sandbox ${sandbox}`;
  switch (error) {
    case "connection_refused":
      return said(
        request,
        502,
        error,
        "Nothing is there yet",
        `Nothing listens on ${where}. Start it, and load this again.`,
      );
    case "bad_answer":
      return said(request, 502, error, "No answer", `What listens on ${where} does not answer in HTTP.`);
    case "timeout":
      return said(request, 504, error, "No answer in time", `What listens on ${where} has not answered.`);
    case "forbidden":
      return said(request, 403, error, "Not shown", `${where} is the sandbox's own.`);
    default:
      log.warn(`a preview's request was not passed on (${answer.status}):`, text.slice(0, 1_000));
      return said(request, 503, "unavailable", "The sandbox can't be reached", "Try again in a moment.");
  }
}

/** The tenant's object is asked again after so long: it may have been restarted. */
const ASKED_MS = 30_000;
const RETRY_MS = 1_000;

type TenantStub = ReturnType<TenantsEnv["TENANT"]["getByName"]>;

/**
 * Calls `end` once, at the end of the pass or of what it rests on.
 * @returns How to stop watching.
 */
function watchPass(env: TenantsEnv, pass: PreviewPass, end: () => void): () => void {
  let isOver = false;
  const watch = async () => {
    const tenant = env.TENANT.getByName(await tenantKey(pass.tenant));
    while (!isOver) {
      const ms = Math.min(ASKED_MS, pass.expiresAtMs - Date.now());
      if (ms <= 0 || (await isRevokedWithin(tenant, pass, ms))) break;
    }
    if (!isOver) end();
  };
  void watch();
  return () => {
    isOver = true;
  };
}

async function isRevokedWithin(tenant: TenantStub, { grant }: PreviewPass, ms: number): Promise<boolean> {
  try {
    return await tenant.untilRevoked(grant, ms);
  } catch (error) {
    log.warn("a tenant could not be asked about a preview:", error);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return false;
  }
}

/** A browser that takes less than its server sends is given up, where the runtime tells. */
const MAX_QUEUE_BYTES = 16 * MIB;

/** What bounds that where the runtime does not tell: bytes that were sent since the browser's last message. */
function unacknowledgedPool(capacityBytes: number): UnacknowledgedPool | undefined {
  return TELLS_QUEUE ? undefined : sharedPool(capacityBytes);
}

/**
 * @param watch Calls back at the end of what lets the browser in; returns how to stop that.
 * @param done Both are closed.
 */
export function joinSockets(
  { webSocket: server, headers }: Response,
  watch: (end: () => void) => () => void,
  done: () => void,
  pool: UnacknowledgedPool | undefined,
): Response {
  if (server === null) throw new Error("there is no WebSocket to join");
  const pair = new WebSocketPair();
  const browser = pair[1];
  const unacknowledged = pool?.join();
  let hasEnded = false;
  let stop: () => void = () => undefined;
  const end = (code: number, reason: string) => {
    if (hasEnded) return;
    hasEnded = true;
    unacknowledged?.end();
    stop();
    for (const socket of [browser, server]) closeSocket(socket, code, reason);
    done();
  };
  const ways = [
    [browser, server],
    [server, browser],
  ] as const;
  for (const [from, to] of ways) {
    from.binaryType = "arraybuffer";
    from.addEventListener("message", ({ data }) => {
      if (hasEnded) return;
      try {
        to.send(data as string | ArrayBuffer);
      } catch {
        return; // It has closed just now, and its close event says so.
      }
      if (from === browser) unacknowledged?.heard();
      else unacknowledged?.sent(typeof data === "string" ? data.length : data.byteLength);
      if (queuedBytes(to) > MAX_QUEUE_BYTES || unacknowledged?.isSmall === false) {
        end(CLOSE.policy, "more waits than is read");
      }
    });
    from.addEventListener("close", ({ code, reason }) => end(code ?? 1006, reason ?? ""));
    from.addEventListener("error", () => end(1006, ""));
    from.accept();
  }
  stop = watch(() => end(CLOSE.unauthenticated, "the login has ended"));
  const protocol = headers.get("Sec-WebSocket-Protocol");
  return new Response(null, {
    status: 101,
    webSocket: pair[0],
    headers: protocol === null ? {} : { "Sec-WebSocket-Protocol": protocol },
  });
}
