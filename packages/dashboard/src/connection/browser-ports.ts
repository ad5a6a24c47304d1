// The browser's WebSocket and timers, as the protocol's client wants them.

import { CLOSE, type ClientSocket, type ClientSocketEvents } from "sandbox-stdio/core";

export function openSocket(
  url: string,
  protocols: string[],
  events: ClientSocketEvents,
  unreachable: string,
): ClientSocket {
  const socket = new WebSocket(url, protocols);
  let isOpen = false;
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    isOpen = true;
    events.open();
  };
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === "string") events.text(data);
    else events.binary(new Uint8Array(data));
  };
  socket.onclose = ({ code, reason }) => {
    // A browser doesn't tell a page why an upgrade failed: the server may have refused it, or there was no server.
    events.closed(code, reason || (isOpen ? "" : unreachable));
  };
  return {
    send: (message) => socket.send(message as string | Uint8Array<ArrayBuffer>),
    // A page may close with 1000 and with codes of its own only.
    close: (code) => socket.close(code === CLOSE.normal || code >= 3000 ? code : undefined),
    // Closing without a code is what a page can do: 1005 at the other end, which is "vanished", not "left".
    abort: () => socket.close(),
  };
}

/** For what would fail before there is a socket: no attempt is worth repeating. */
export function refuseAtOnce(events: ClientSocketEvents, reason: string): ClientSocket {
  queueMicrotask(() => events.closed(CLOSE.badRequest, reason));
  const nothing = (): void => undefined;
  return { send: nothing, close: nothing, abort: nothing };
}

/**
 * A timer whose callback runs in a task of its own. In a hidden page Chrome lets chains of timers fire only once a
 * minute, which would miss the pings and look like a lost connection; a message between breaks the chain.
 */
export function setTimer(ms: number, callback: () => void): () => void {
  let isCancelled = false;
  const timer = setTimeout(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      if (!isCancelled) callback();
    };
    port2.postMessage(undefined);
  }, ms);
  return () => {
    isCancelled = true;
    clearTimeout(timer);
  };
}
