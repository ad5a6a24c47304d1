// Lets tests, which run in other processes, restart the system's parts and read what the proxy recorded. Loopback, and
// only for whoever knows the path.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { System } from "../../../../packages/local/src/system/system.ts";
import type { BridgeProxy } from "./bridge-proxy.ts";

export interface ControlServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Seconds that a login's token may live here: the usual ones last. */
export const TOKEN_SECONDS = [30, 60, 3600] as const;
export const USUAL_TOKEN_SECONDS = 3600;

/**
 * `POST URL/NAME` runs one of the actions below and answers its result as JSON.
 * @param setTokenSeconds Says how long the tokens of logins live that are made, or renewed, from then on.
 */
export function startControlServer(
  system: System,
  proxy: BridgeProxy,
  relay: BridgeProxy,
  setTokenSeconds: (seconds: number) => void,
): Promise<ControlServer> {
  const actions: Readonly<Record<string, () => unknown>> = {
    pids: () => system.pids,
    "restart-worker": () => system.restartWorker(),
    "restart-bridge": () => system.restartBridge(),
    "kill-bridge": () => system.bridge.kill(),
    "start-bridge": () => system.bridge.start(),
    cut: () => proxy.cut(),
    "cut-relay": () => relay.cut(),
    hold: () => proxy.hold(),
    release: () => proxy.release(),
    recorded: () => proxy.recorded.map((bytes) => bytes.toString("base64")),
    forget: () => proxy.forget(),
    ...Object.fromEntries(TOKEN_SECONDS.map((seconds) => [`tokens-${seconds}`, () => setTokenSeconds(seconds)])),
  };
  return serveActions(actions);
}

/** Serves `POST URL/NAME?QUERY` for each action, on a port of its own and at a path that only its caller knows. */
export async function serveActions(
  actions: Readonly<Record<string, (query: string) => unknown>>,
): Promise<ControlServer> {
  const secret = randomBytes(16).toString("hex");
  const server = createServer(async (request, response) => {
    const [name = "", query = ""] = (request.url ?? "").slice(secret.length + 2).split("?");
    const action = actions[name];
    if (!request.url?.startsWith(`/${secret}/`) || action === undefined || request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    try {
      const result = await action(query);
      response.end(JSON.stringify(result ?? null));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The control server has no port");
  return {
    url: `http://127.0.0.1:${address.port}/${secret}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
