// The browser's WebSocket and timers, in the shape that the protocol's client takes.

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
    // A browser does not say why an upgrade failed: the server refused it, or there was none.
    events.closed(code, reason || (isOpen ? "" : unreachable));
  };
  return {
    send: (message) => socket.send(message as string | Uint8Array<ArrayBuffer>),
    // A page may only use code 1000 and codes from 3000.
    close: (code) => socket.close(code === CLOSE.normal || code >= 3000 ? code : undefined),
    // Without a code the other end sees 1005, which means lost and not left.
    abort: () => socket.close(),
  };
}

/** Reports a failure before there is a socket; not worth a retry. */
export function failSocket(events: ClientSocketEvents, reason: string): ClientSocket {
  queueMicrotask(() => events.closed(CLOSE.badRequest, reason));
  const nothing = (): void => undefined;
  return { send: nothing, close: nothing, abort: nothing };
}

/**
 * A timer whose callback runs in its own task. In a hidden page Chrome delays chained timers to once a minute, which would miss pings
 * and look like a lost connection; a message in between breaks the chain.
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
