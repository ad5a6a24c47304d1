// Connections that session objects open before they know for what (H22): nothing runs for one, and nothing is sent on it, until an
// attach is asked for there.

import type { Server, ServerWebSocket } from "bun";
import {
  type BeginRefused,
  CLOSE,
  INNER_PROTOCOL,
  MAX_PRECONNECTS,
  PRECONNECT_MS,
  parseBegin,
} from "sandbox-stdio/core";
import { type FoundForObject, findForObject } from "./attach-route.ts";
import { log } from "./log.ts";
import { refuse } from "./refusals.ts";
import type { Registry } from "./registry.ts";
import type { BridgeSettings } from "./settings.ts";
import { innerSocket, type SocketData } from "./sockets.ts";

type Socket = ServerWebSocket<SocketData>;

export class Preconnects {
  readonly #settings: BridgeSettings;
  readonly #registry: Registry;
  readonly #keptMs: number;
  readonly #waiting = new Set<Socket>();

  constructor(settings: BridgeSettings, registry: Registry, keptMs = PRECONNECT_MS) {
    this.#settings = settings;
    this.#registry = registry;
    this.#keptMs = keptMs;
  }

  /** @returns undefined if the request was upgraded. */
  upgrade(request: Request, sandbox: string, server: Server<SocketData>): Response | undefined {
    if (request.headers.get("sec-websocket-protocol") !== INNER_PROTOCOL) {
      return refuse(400, "bad_request", `only ${INNER_PROTOCOL} is spoken here`);
    }
    // Without one, an object attaches as ever.
    if (this.#waiting.size >= MAX_PRECONNECTS) return refuse(503, "too_many", "too many connections wait to be used");
    const headers = { "sec-websocket-protocol": INNER_PROTOCOL };
    if (server.upgrade(request, { data: this.#dataOf(sandbox), headers })) return undefined;
    return refuse(400, "bad_request", "this is not a WebSocket upgrade");
  }

  /** The bridge goes: nothing is begun any more. */
  close(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const socket of waiting) socket.close(1001, "the bridge is shutting down");
  }

  #dataOf(sandbox: string): SocketData {
    let timer: ReturnType<typeof setTimeout> | undefined;
    /** @returns Whether it was waiting until now. */
    const over = (socket: Socket): boolean => {
      clearTimeout(timer);
      return this.#waiting.delete(socket);
    };
    return {
      open: (socket) => {
        this.#waiting.add(socket);
        timer = setTimeout(() => socket.close(CLOSE.normal, "nothing was asked"), this.#keptMs);
        socket.data.receive = (frame) => {
          if (over(socket)) this.#begin(socket, sandbox, frame);
        };
        socket.data.closed = () => void over(socket);
      },
      receive: () => undefined,
      drained: () => undefined,
      closed: () => undefined,
    };
  }

  #begin(socket: Socket, sandbox: string, frame: string | Uint8Array): void {
    const parsed = typeof frame === "string" ? parseBegin(frame) : undefined;
    if (parsed?.ok !== true) {
      socket.close(CLOSE.policy, parsed?.detail ?? "a frame of bytes has no place before a process is asked for");
      return;
    }
    const params = new URLSearchParams(parsed.message.query);
    params.set("sandbox", sandbox);
    const found = this.#find(params);
    if (!found.ok) {
      const { status, error, message } = found;
      const refused: BeginRefused = { type: "refused", status, error, message };
      socket.send(JSON.stringify(refused));
      socket.close(CLOSE.normal, "");
      return;
    }
    socket.data = innerSocket(found.host, found.offset);
    socket.data.open(socket);
  }

  /** An exception here would end the bridge, where a request that fails is only answered 500. */
  #find(params: URLSearchParams): FoundForObject {
    try {
      return findForObject(params, this.#settings, this.#registry);
    } catch (error) {
      log.error("an attach failed:", error);
      return { ok: false, status: 500, error: "internal", message: "something went wrong here" };
    }
  }
}
