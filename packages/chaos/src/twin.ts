// The same handshake once more, on a connection without a reader: the party that it reaches has two sockets of one client.

import { connect, type Socket } from "node:net";

/** How long the far end may take to greet. */
const PATIENCE_MS = 5_000;
const GREETING = '"type":"hello"';
const KEPT_BYTES = 4_096;

/** Whether these first bytes are a whole handshake that says whose it is: else the twin would be another client. */
export function canPlayTwice(head: Uint8Array): boolean {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString("latin1");
  return text.endsWith("\r\n\r\n") && /^GET [^ ]*[?&](attempt|incarnation)=/.test(text);
}

/**
 * Opens it. `then` is called once, when it has been greeted and so is certainly the older of the two, or is not.
 * @param head The first bytes of a connection, a whole request.
 */
export function openTwin(
  target: { readonly host: string; readonly port: number },
  head: Uint8Array,
  then: (isGreeted: boolean) => void,
): Socket {
  const twin = connect({ ...target, noDelay: true });
  let text = "";
  let isDone = false;
  const done = (isGreeted: boolean) => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    then(isGreeted);
  };
  const timer = setTimeout(() => done(false), PATIENCE_MS);
  twin.on("error", () => done(false));
  twin.on("close", () => done(false));
  twin.on("data", (chunk: Uint8Array) => {
    if (isDone) return; // Read, so that it does not stop its sender, and lost.
    text = (text + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString("latin1")).slice(-KEPT_BYTES);
    if (text.includes(GREETING)) done(true);
  });
  twin.write(head);
  return twin;
}
