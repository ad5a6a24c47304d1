// The way to the bridge: in the sandbox's container, or a local one. The only file that knows there are two.

import { getSandbox } from "@cloudflare/sandbox";
import { INNER_PROTOCOL } from "@sbx/sandbox-stdio";
import type { Env } from "../env.ts";
import { BRIDGE_PORT, containerToken } from "../sandbox/sandbox.ts";

/** When to come back, where the platform does not say. */
const RETRY_AFTER_SECONDS = 3;
const MAX_MESSAGE_CHARACTERS = 200;
/** Below 500, and yet worth another try: too slow, too early, too many. The SDK says the last in plain text. */
const PASSING: readonly number[] = [408, 425, 429];

export type AttachOutcome =
  | { readonly kind: "open"; readonly socket: WebSocket }
  /** The bridge said no: its HTTP status, and what it said. 502 where somebody else answered in its place. */
  | { readonly kind: "refused"; readonly status: number; readonly error: string; readonly message: string }
  /** No bridge was reached: the container does not run or did not start. */
  | {
      readonly kind: "unreachable";
      readonly message: string;
      readonly retryAfterSeconds: number;
      /** Whether the platform itself has asked to wait that long. */
      readonly isAskedToWait?: true;
    };

/**
 * Opens the inner hop. Starts the container where there is one, unless `params` name an incarnation: its process ended with
 * the container that it ran in.
 */
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
      Authorization: await authorization(env, sandboxKey),
    };
    const path = `/attach?${query}`;
    if (env.BRIDGE_URL) response = await fetch(`${env.BRIDGE_URL}${path}`, { headers });
    else if (query.has("incarnation") && !(await isAwake(env, sandboxKey))) return PROCESS_LOST;
    else {
      const request = new Request(`http://bridge${path}`, { headers });
      response = await getSandbox(env.Sandbox, sandboxKey).wsConnect(request, BRIDGE_PORT);
    }
    return await outcomeOf(response);
  } catch (error) {
    console.error("no way to the bridge:", error);
    return { kind: "unreachable", message: "no way to it", retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
}

/** Asks the bridge something else. @returns undefined where it does not run: asking never starts a container. */
export async function askBridge(
  env: Env,
  sandboxKey: string,
  method: "GET" | "DELETE",
  path: string,
): Promise<Response | undefined> {
  const target = `${path}?${new URLSearchParams({ sandbox: sandboxKey })}`;
  if (!env.BRIDGE_URL) {
    const answer = await env.Sandbox.getByName(sandboxKey).askBridge(method, target);
    return answer && new Response(answer.text, { status: answer.status });
  }
  try {
    return await fetch(`${env.BRIDGE_URL}${target}`, {
      method,
      headers: { Authorization: `Bearer ${env.STDIO_TOKEN}` },
    });
  } catch {
    return undefined; // The local bridge is down.
  }
}

/** Whether the container runs. A local bridge always does. */
export async function isAwake(env: Env, sandboxKey: string): Promise<boolean> {
  return env.BRIDGE_URL ? true : env.Sandbox.getByName(sandboxKey).isRunning();
}

const PROCESS_LOST: AttachOutcome = {
  kind: "refused",
  status: 404,
  error: "not_found",
  message: "process lost: the container that it ran in is gone",
};

async function authorization(env: Env, sandboxKey: string): Promise<string> {
  // The local bridge is shared, and so is its secret.
  const token = env.BRIDGE_URL ? env.STDIO_TOKEN : await containerToken(env, env.Sandbox.idFromName(sandboxKey));
  return `Bearer ${token}`;
}

/** What an answer means. Without a WebSocket: a refusal is the bridge's own, the platform has other words. */
async function outcomeOf(response: Response): Promise<AttachOutcome> {
  const { status, webSocket: socket } = response;
  if (socket) {
    // A Blob, the default of later compatibility dates, can't be passed on by send().
    socket.binaryType = "arraybuffer";
    return { kind: "open", socket };
  }
  const text = await response.text();
  const said = readJson(text);
  const message = (typeof said.message === "string" ? said.message : text).slice(0, MAX_MESSAGE_CHARACTERS);
  if (status < 500 && typeof said.error === "string") {
    // A container keeps the secret it was started with.
    if (status === 401) console.error("the bridge refuses our secret: was STDIO_TOKEN changed since it was started?");
    return { kind: "refused", status, error: said.error, message };
  }
  // The client is told the message; what the platform says beyond it stays in the log.
  console.warn(`the bridge was not reached (${status}): ${text}`);
  const retryAfter = response.headers.get("Retry-After");
  if (status < 500 && !PASSING.includes(status) && retryAfter === null) {
    // Another server on its port: a container that does not run, or is starting, is told of by a status from 500 on.
    const foreign = `what answers in the bridge's place, with status ${status}, is no bridge`;
    return { kind: "refused", status: 502, error: "no_bridge", message: foreign };
  }
  const seconds = Number(retryAfter);
  if (seconds > 0) return { kind: "unreachable", message, retryAfterSeconds: seconds, isAskedToWait: true };
  return { kind: "unreachable", message, retryAfterSeconds: RETRY_AFTER_SECONDS };
}

function readJson(text: string): { error?: unknown; message?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // Not JSON: the platform's own words.
  }
}
