// A stand-in for the bridge, for what needs no process behind the session's object.
import { vi } from "vitest";
import { INNER_HELLO } from "../../../packages/sandbox-stdio/test/support/hello.ts";

export const GREETED_SETTINGS = { BRIDGE_URL: "http://bridge", STDIO_TOKEN: "a secret of 16 and more" };

/** A local bridge that greets, and knows of nothing else but that a session is to end: its connection goes with it. */
export function standInForBridge(): void {
  let last: WebSocket | undefined;
  vi.spyOn(globalThis, "fetch").mockImplementation(async (_url, init) => {
    if (init?.method === "DELETE") {
      last?.close(1001);
      return new Response(null, { status: 204 });
    }
    const { response, bridge } = greeting();
    last = bridge;
    return response;
  });
}

export function greeting(incarnation: string = INNER_HELLO.incarnation): { response: Response; bridge: WebSocket } {
  const pair = new WebSocketPair();
  const bridge = pair[1];
  bridge.accept();
  bridge.send(JSON.stringify({ ...INNER_HELLO, incarnation }));
  return { response: new Response(null, { status: 101, webSocket: pair[0] }), bridge };
}
