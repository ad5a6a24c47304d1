// An inner hop whose attaches are answered by hand, and a bridge's end of a WebSocket.

import { InnerHop, type InnerHopEvents } from "../../src/bridge/inner-hop.ts";
import type { AttachOutcome } from "../../src/bridge/upstream.ts";

/** A hop, the incarnations that have greeted, and who waits for the answer to an attach by an upgrade. */
export function makeHop(over: Partial<InnerHopEvents> = {}) {
  const answers: ((outcome: AttachOutcome) => void)[] = [];
  const greetings: string[] = [];
  const hop = new InnerHop({
    attach: () => new Promise((resolve) => answers.push(resolve)),
    mayStart: () => false,
    hello: (hello) => greetings.push(hello.incarnation),
    received: () => undefined,
    receivedOutput: () => undefined,
    broken: () => false,
    failed: () => false,
    parked: () => undefined,
    clientBye: () => undefined,
    ...over,
  });
  return { hop, answers, greetings };
}

/** A WebSocket to a bridge, the bridge's end of it, and the code that it ends with. */
export function openSocket() {
  const pair = new WebSocketPair();
  const bridge = pair[1];
  bridge.accept();
  const closed = new Promise<number>((resolve) => bridge.addEventListener("close", (event) => resolve(event.code)));
  return { socket: pair[0], bridge, closed };
}
