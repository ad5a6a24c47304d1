// The floor of the path: a Worker and a Durable Object that pass WebSocket messages and calls on, and nothing else.

type Env = { readonly RELAY: DurableObjectNamespace; readonly BRIDGE_URL: string };

export class Relay implements DurableObject {
  readonly #env: Env;
  readonly #pairs = new Map<WebSocket, WebSocket>();
  /** All clients that are sent the output: the one that started the command, and those that only watch. */
  readonly #clients = new Set<WebSocket>();
  readonly #state: DurableObjectState;
  #isBegun = false;

  constructor(state: DurableObjectState, env: Env) {
    this.#state = state;
    this.#env = env;
  }

  async fetch(request: Request): Promise<Response> {
    if (request.method === "POST") return fetch(this.#env.BRIDGE_URL, { method: "POST", body: request.body });
    const pair = new WebSocketPair();
    const client = pair[1];
    // One connection to the bridge for all of them: each more would bring the output to each client once more.
    if (this.#isBegun || new URL(request.url).searchParams.get("role") === "viewer") {
      this.#state.acceptWebSocket(client);
      this.#clients.add(client);
      return new Response(null, { status: 101, webSocket: pair[0] });
    }
    this.#isBegun = true;
    const response = await fetch(this.#env.BRIDGE_URL, { headers: { Upgrade: "websocket" } });
    const upstream = response.webSocket;
    if (!upstream) return new Response("no bridge", { status: 503 });
    upstream.binaryType = "arraybuffer";
    this.#state.acceptWebSocket(client);
    this.#clients.add(client);
    this.#pairs.set(client, upstream);
    upstream.addEventListener("message", (event) => {
      for (const one of this.#clients) one.send(event.data as ArrayBuffer);
    });
    upstream.addEventListener("close", () => client.close(1000));
    upstream.accept();
    return new Response(null, { status: 101, webSocket: pair[0] });
  }

  webSocketMessage(client: WebSocket, message: string | ArrayBuffer): void {
    this.#pairs.get(client)?.send(message);
  }

  webSocketClose(client: WebSocket): void {
    this.#pairs.get(client)?.close(1000);
    this.#pairs.delete(client);
    this.#clients.delete(client);
    client.close(1000);
  }
}

export default {
  fetch(request: Request, env: Env): Promise<Response> | Response {
    if (request.method === "POST") return env.RELAY.get(env.RELAY.newUniqueId()).fetch(request);
    if (request.headers.get("Upgrade") === null) return new Response("ok\n");
    const name = new URL(request.url).searchParams.get("name") ?? "";
    return env.RELAY.get(env.RELAY.idFromName(name)).fetch(request);
  },
};
