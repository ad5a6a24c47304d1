// The way to the bridge: in the sandbox's container, or a local one. The only file that knows there are two.

import { getSandbox } from "@cloudflare/sandbox";
import { INNER_PROTOCOL } from "@sbx/sandbox-stdio";
import type { Env } from "./env.ts";
import { bridgeToken } from "./sandbox.ts";

const BRIDGE_PORT = 8080;

export type AttachOutcome =
  | { readonly kind: "open"; readonly socket: WebSocket }
  /** The bridge said no: its HTTP status, and what it said. */
  | { readonly kind: "refused"; readonly status: number; readonly error: string; readonly message: string }
  /** No bridge was reached: the container does not run or did not start. */
  | { readonly kind: "unreachable"; readonly message: string; readonly retryAfterSeconds: number };

/** Opens the inner hop. Starts the container where there is one. */
export async function attachBridge(
  env: Env,
  sandboxKey: string,
  params: readonly (readonly [string, string])[],
): Promise<AttachOutcome> {
  const query = new URLSearchParams(params.map(([name, value]) => [name, value]));
  query.set("sandbox", sandboxKey);
  let response: Response;
  try {
    const headers = {
      Upgrade: "websocket",
      // Without it the SDK takes the request for plain HTTP to another port.
      Connection: "Upgrade",
      "Sec-WebSocket-Protocol": INNER_PROTOCOL,
      Authorization: `Bearer ${await bridgeToken(env, sandboxKey)}`,
    };
    const path = `/attach?${query}`;
    response = env.BRIDGE_URL
      ? await fetch(`${env.BRIDGE_URL}${path}`, { headers })
      : await getSandbox(env.Sandbox, sandboxKey).wsConnect(
          new Request(`http://bridge${path}`, { headers }),
          BRIDGE_PORT,
        );
  } catch (error) {
    return { kind: "unreachable", message: String(error), retryAfterSeconds: 3 };
  }
  const socket = response.webSocket;
  if (socket) {
    // A Blob, the default of later compatibility dates, can't be passed on by send().
    socket.binaryType = "arraybuffer";
    return { kind: "open", socket };
  }
  if (response.status >= 500) {
    const message = await response.text();
    return { kind: "unreachable", message, retryAfterSeconds: Number(response.headers.get("Retry-After") ?? 3) };
  }
  const said = await readError(response);
  return { kind: "refused", status: response.status, ...said };
}

/** Asks the bridge something else. @returns undefined where it does not run: asking never starts a container. */
export async function askBridge(
  env: Env,
  sandboxKey: string,
  method: "GET" | "DELETE",
  path: string,
): Promise<Response | undefined> {
  const headers = { Authorization: `Bearer ${await bridgeToken(env, sandboxKey)}` };
  const target = `${path}?${new URLSearchParams({ sandbox: sandboxKey })}`;
  if (env.BRIDGE_URL) {
    try {
      return await fetch(`${env.BRIDGE_URL}${target}`, { method, headers });
    } catch {
      return undefined; // The local bridge is down.
    }
  }
  if (!(await isAwake(env, sandboxKey))) return undefined;
  return getSandbox(env.Sandbox, sandboxKey).containerFetch(
    new Request(`http://bridge${target}`, { method, headers }),
    BRIDGE_PORT,
  );
}

/** Whether the container runs. A local bridge always does. */
export async function isAwake(env: Env, sandboxKey: string): Promise<boolean> {
  if (env.BRIDGE_URL) return true;
  const state = await getSandbox(env.Sandbox, sandboxKey).getState();
  return state.status === "running" || state.status === "healthy";
}

async function readError(response: Response): Promise<{ error: string; message: string }> {
  const text = await response.text();
  try {
    const body = JSON.parse(text) as { error?: unknown; message?: unknown };
    return { error: String(body.error ?? "refused"), message: String(body.message ?? text) };
  } catch {
    return { error: "refused", message: text.slice(0, 200) }; // Not our bridge's JSON.
  }
}
