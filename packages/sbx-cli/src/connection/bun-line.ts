// A connection over Bun's own WebSocket, in the compiled program: it takes 3 MB less than ws over Bun's copy of Node's modules. It
// does not tell why it can't be made, nor what it waits for: then the connection is made by ws instead, which does.

import { OUTER_PROTOCOL } from "sandbox-stdio/core";
import { type Line, type LineEvents, type LineWish, lineHeaders, MAX_MESSAGE_BYTES } from "./line.ts";

/** Less than a person is left without a word. */
const OPEN_WITHIN_MS = 1_500;
const ABNORMAL = 1006;
const TOO_BIG = 1009;

/** What Bun's WebSocket has beyond the standard's. */
type BunWebSocket = Omit<WebSocket, "send"> & { send(message: string | Uint8Array): void; terminate(): void };
type BunOptions = {
  readonly protocols: string[];
  readonly headers: Record<string, string>;
  readonly perMessageDeflate: false;
};
type WithBun = { readonly Bun?: object; readonly WebSocket: new (url: string, options: BunOptions) => BunWebSocket };

export const hasBunSocket = "Bun" in globalThis;

/** @param instead It can't be made, or not soon. Nothing more is told then. */
export function dialByBun(wish: LineWish, events: LineEvents, instead: () => void): Line {
  wish.stage(`connecting to ${wish.url.host}`);
  const url = new URL(wish.url);
  url.protocol = url.protocol.replace("http", "ws");
  // Only the compiled program and Bun come here.
  const { WebSocket: Socket } = globalThis as unknown as WithBun;
  const options: BunOptions = { protocols: [OUTER_PROTOCOL], headers: lineHeaders(wish), perMessageDeflate: false };
  const socket = new Socket(url.href, options);
  socket.binaryType = "arraybuffer";
  let isOpen = false;
  let isGivenUp = false;
  const giveUp = () => {
    if (isGivenUp) return;
    isGivenUp = true;
    clearTimeout(timer);
    socket.terminate();
    instead();
  };
  const timer = setTimeout(giveUp, OPEN_WITHIN_MS);
  socket.onopen = () => {
    if (isGivenUp) return;
    if (socket.protocol !== OUTER_PROTOCOL) {
      giveUp();
      return;
    }
    clearTimeout(timer);
    isOpen = true;
    events.open();
  };
  socket.onmessage = ({ data }) => {
    if (isGivenUp) return;
    if (typeof data === "string") events.text(data);
    else if (!(data instanceof ArrayBuffer)) throw new TypeError("Cannot read a message that is no ArrayBuffer");
    else if (data.byteLength <= MAX_MESSAGE_BYTES) events.binary(new Uint8Array(data));
    else {
      events.closed(TOO_BIG, "the server sent a message that is too long");
      socket.terminate();
    }
  };
  socket.onclose = ({ code, reason }) => {
    if (!isOpen) {
      giveUp();
      return;
    }
    events.closed(code, code === ABNORMAL ? "the connection broke" : reason);
    events.gone();
  };
  return {
    send: (message) => {
      if (isOpen) socket.send(message);
    },
    close: (code) => {
      if (isOpen) socket.close(code);
      else socket.terminate();
    },
    terminate: () => socket.terminate(),
  };
}
