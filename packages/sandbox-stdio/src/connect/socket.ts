// Adapts a WebSocket of any runtime to the client's state machine: gets the token first, and turns a failure before the socket
// exists into a close code.

import type { ClientSocket, ClientSocketEvents } from "../client/client-types.ts";
import { CLOSE } from "../wire/constants.ts";
import type { WebSocketConstructor, WebSocketLike } from "./connect-options.ts";
import { StdioError } from "./error.ts";

type Message = { readonly data: unknown };
type Closing = { readonly code: number; readonly reason: string };

/** @param dial Opens a socket; an error it throws ends the attempt. */
export function openSocket(dial: () => Promise<WebSocketLike>, events: ClientSocketEvents): ClientSocket {
  let socket: WebSocketLike | undefined;
  let isOver = false;
  const over = (code: number, detail: string): void => {
    if (isOver) return;
    isOver = true;
    events.closed(code, detail);
  };
  dial().then(
    (dialled) => {
      socket = dialled;
      if (isOver) drop(socket);
      else listen(socket, events, over, () => isOver);
    },
    (error: unknown) => {
      const isOurs = error instanceof StdioError && error.code !== "token_failed";
      over(isOurs ? CLOSE.badRequest : CLOSE.tryLater, error instanceof Error ? error.message : String(error));
    },
  );
  return {
    send: (message) => {
      if (!isOver) socket?.send(message);
    },
    close: (code) => {
      isOver = true;
      if (socket !== undefined) close(socket, code);
    },
    abort: () => {
      isOver = true;
      if (socket !== undefined) drop(socket);
    },
  };
}

function listen(
  socket: WebSocketLike,
  events: ClientSocketEvents,
  over: (code: number, detail: string) => void,
  isOver: () => boolean,
): void {
  let isOpen = false;
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    isOpen = true;
    if (!isOver()) events.open();
  };
  socket.onmessage = ({ data }: Message) => {
    if (isOver()) return;
    if (typeof data === "string") events.text(data);
    else if (data instanceof ArrayBuffer) events.binary(new Uint8Array(data));
    else over(CLOSE.internal, "the runtime's WebSocket delivers messages neither as text nor as ArrayBuffer");
  };
  // A close follows; the listener keeps the `ws` package from throwing.
  socket.onerror = (event: { message?: unknown }) => {
    if (!isOpen && typeof event?.message === "string" && event.message !== "") over(1006, event.message);
  };
  socket.onclose = ({ code, reason }: Closing) => {
    over(code, reason || (isOpen ? "" : "the server can't be reached, or refused the connection"));
  };
}

/** @throws {StdioError} `no_websocket`. */
export function webSocketOf(given: WebSocketConstructor | undefined): WebSocketConstructor {
  const found = given ?? (globalThis as { WebSocket?: unknown }).WebSocket;
  if (typeof found === "function") return found as WebSocketConstructor;
  throw new StdioError(
    "no_websocket",
    "This runtime has no WebSocket: pass one as `WebSocket`, such as that of the `ws` package",
  );
}

function close(socket: WebSocketLike, code: number): void {
  // A page may close only with 1000 and codes from 3000.
  socket.close(code === CLOSE.normal || code >= 3000 ? code : undefined);
}

/** Drops the connection silently if the runtime can; a close without a code does not count as leaving either. */
function drop(socket: WebSocketLike): void {
  const { terminate } = socket as { terminate?: () => void };
  if (terminate === undefined) socket.close();
  else terminate.call(socket);
}
