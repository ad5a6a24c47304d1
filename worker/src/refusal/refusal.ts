// How a request is refused: one line of JSON, or, for a client that can't see an HTTP refusal, a WebSocket that says why.

import { CLOSE, clipUtf8, type DialectRoute, dialectNamed, httpStatusOf, type Retry } from "sandbox-stdio/core";
import { countRefusal } from "../metrics/refusal-counts.ts";

/** How a client is answered. */
export type Answering = {
  /** The dialect's name. */
  readonly dialect: string;
  readonly subprotocol?: string;
  readonly refusal: DialectRoute["refusal"];
};

export type Refusal = {
  /** Our close code; the HTTP status is derived from it. */
  readonly code: number;
  /** A short name of the reason. */
  readonly error: string;
  readonly message: string;
  readonly retryAfterSeconds?: number;
  /** The text of the close, in place of the dialect's own words for the code. */
  readonly reason?: string;
  /** Absent: what the code says. `never` where waiting alone changes nothing. */
  readonly retry?: Retry;
};

/** Refuses in the way that the client's route has for it. */
export function refuseUpgrade(client: Answering, refusal: Refusal): Response {
  countRefusal(refusal.code);
  if (client.refusal === "status") return refuseHttp(refusal);
  const pair = new WebSocketPair();
  pair[1].accept();
  sayBye(pair[1], client.dialect, refusal);
  return new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(client) });
}

/** A browser fails an upgrade whose answer selects none of the subprotocols that it offered. */
export function upgradeHeaders({ subprotocol }: Answering): Headers {
  return new Headers(subprotocol === undefined ? {} : { "Sec-WebSocket-Protocol": subprotocol });
}

export function refuseHttp(refusal: Refusal): Response {
  const headers = new Headers({ "Content-Type": "application/json", "Cache-Control": "no-store" });
  const status = httpStatusOf(refusal.code);
  const isPassing = (status === 503 || status === 429) && retryOf(refusal) !== "never";
  const retryAfter = refusal.retryAfterSeconds ?? (isPassing ? 5 : undefined);
  if (retryAfter !== undefined) headers.set("Retry-After", String(retryAfter));
  if (status === 401) headers.set("WWW-Authenticate", "Bearer");
  return new Response(`${JSON.stringify({ error: refusal.error, message: refusal.message })}\n`, { status, headers });
}

/** Says why, as far as the dialect has words for it, and closes. */
export function sayBye(socket: WebSocket, dialectName: string, refusal: Refusal): void {
  const { code, message, retryAfterSeconds, reason } = refusal;
  const retry = retryOf(refusal);
  const seconds = retry === "after" && retryAfterSeconds !== undefined ? { seconds: retryAfterSeconds } : {};
  const dialect = dialectNamed(dialectName);
  const { frames } = dialect.encode({ type: "bye", code, reason: message, retry, ...seconds }, dialect.start);
  for (const frame of frames) socket.send(frame);
  socket.close(dialect.closeCode?.(code, message) ?? code, clipUtf8(reason ?? dialect.reasons?.[code] ?? message, 123));
}

/** Whether a client that is refused like this may come back. */
export function retryOf({ code, retry }: Pick<Refusal, "code" | "retry">): Retry {
  if (retry !== undefined) return retry;
  if (code === CLOSE.restart) return "now";
  return code === CLOSE.unavailable || code === CLOSE.tooMany || code === CLOSE.tryLater ? "after" : "never";
}
