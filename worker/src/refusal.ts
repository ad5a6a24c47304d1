// How a request is refused: one line of JSON, or, for a client that can't see an HTTP refusal, a WebSocket that says why.

import { CLOSE, clipUtf8, httpStatusOf, OUTER_PROTOCOL } from "@sbx/sandbox-stdio";
import type { DialectName } from "./attach-spec.ts";

export type Refusal = {
  /** Our close code; the HTTP status is derived from it. */
  readonly code: number;
  /** A short name of the reason. */
  readonly error: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
};

/** @param dialect A browser sees no HTTP refusal of an upgrade, so `stdio.v1` is accepted, told and closed. */
export function refuseUpgrade(dialect: DialectName, refusal: Refusal): Response {
  if (dialect !== "stdio") return refuseHttp(refusal);
  const pair = new WebSocketPair();
  pair[1].accept();
  sayBye(pair[1], refusal);
  return new Response(null, {
    status: 101,
    webSocket: pair[0],
    headers: { "Sec-WebSocket-Protocol": OUTER_PROTOCOL },
  });
}

export function refuseHttp(refusal: Refusal): Response {
  const headers = new Headers({ "Content-Type": "application/json", "Cache-Control": "no-store" });
  const status = httpStatusOf(refusal.code);
  const retryAfter = refusal.retryAfterSeconds ?? (status === 503 || status === 429 ? 5 : undefined);
  if (retryAfter !== undefined) headers.set("Retry-After", String(retryAfter));
  if (status === 401) headers.set("WWW-Authenticate", "Bearer");
  return new Response(`${JSON.stringify({ error: refusal.error, message: refusal.message })}\n`, { status, headers });
}

/** Says `bye` and closes. */
export function sayBye(socket: WebSocket, refusal: Refusal): void {
  const canRetry =
    refusal.code === CLOSE.unavailable || refusal.code === CLOSE.tooMany || refusal.code === CLOSE.tryLater;
  const bye = {
    type: "bye",
    code: refusal.code,
    reason: refusal.message,
    retry: canRetry ? "after" : "never",
    ...(canRetry && refusal.retryAfterSeconds !== undefined ? { seconds: refusal.retryAfterSeconds } : {}),
  };
  socket.send(JSON.stringify(bye));
  socket.close(refusal.code, clipUtf8(refusal.message, 123));
}
