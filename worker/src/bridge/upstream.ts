// The way to the bridge: in the sandbox's container, or a local one.

import { defined, INNER_PROTOCOL } from "sandbox-stdio/core";
import { log } from "../base/log.ts";
import { readText } from "../base/read-text.ts";
import { AuthFault } from "../refusal/fault.ts";
import { BRIDGE_PORT, type ContainersEnv, containerOf } from "../sandbox/containers.ts";
import { type BridgeAnswer, type BridgeQuestion, questionTo, readAnswer } from "../sandbox/question.ts";
import { readSaid } from "../sandbox/said.ts";
import { type BridgeSecretEnv, bridgeSecret, containerToken } from "../sandbox/secret.ts";

/** When to come back, where the platform does not say. */
const RETRY_AFTER_SECONDS = 3;
/** A new container takes the place of one that was told to stop. */
export const STOPPING_RETRY_SECONDS = 10;
/** Who asks for more may be a stranger in the sandbox, and a session that never tries again would be lost by it. */
const MAX_RETRY_AFTER_SECONDS = 300;
const MAX_MESSAGE_CHARACTERS = 200;
const MAX_LOGGED_CHARACTERS = 1_000;
/** Limits of a response that refuses the upgrade: the bridge's is one line; a longer or slow one is not the bridge's. */
const MAX_REFUSAL_BYTES = 16 * 1024;
const REFUSAL_PATIENCE_MS = 5_000;
/** Below 500, and yet worth another try: too slow, too early, too many. The SDK says the last in plain text. */
const PASSING: readonly number[] = [408, 425, 429];

export interface BridgeEnv extends ContainersEnv, BridgeSecretEnv {
  /** Local only: a bridge at this address instead of one in a container. Default: none. */
  readonly BRIDGE_URL?: string;
  /** The connection to that bridge where it listens at a Unix socket, as under `serve`. Default: none. */
  readonly BRIDGE?: Fetcher;
}

/** A request to a local bridge. */
const fetchLocal = ({ BRIDGE, BRIDGE_URL }: BridgeEnv, path: string, init: RequestInit): Promise<Response> =>
  (BRIDGE ?? globalThis).fetch(`${BRIDGE_URL}${path}`, init);

/** The query of an attach. */
export type AttachParams = readonly (readonly [string, string])[];

export type AttachOutcome =
  | { readonly kind: "open"; readonly socket: WebSocket }
  /** The bridge said no: its HTTP status, and its message. 502 if another server answered in its place. */
  | { readonly kind: "refused"; readonly status: number; readonly error: string; readonly message: string }
  /** No bridge was reached: the container does not run or did not start. */
  | {
      readonly kind: "unreachable";
      readonly message: string;
      readonly retryAfterSeconds: number;
      /** Whether the platform itself has asked to wait that long. */
      readonly isAskedToWait?: true;
      /** A bridge was told to stop, and starts nothing more. */
      readonly isStopping?: true;
    };

/**
 * Opens the inner hop. Starts the container where there is one, unless `params` name an incarnation: its process ended with
 * the container that it ran in.
 * @param signal No caller waits for it any more.
 */
export async function attachBridge(
  env: BridgeEnv,
  sandboxKey: string,
  params: AttachParams,
  signal?: AbortSignal,
): Promise<AttachOutcome> {
  const query = new URLSearchParams(params.map(([name, value]) => [name, value]));
  query.set("sandbox", sandboxKey);
  try {
    const headers = { Upgrade: "websocket", "Sec-WebSocket-Protocol": INNER_PROTOCOL };
    const path = `/attach?${query}`;
    if (query.has("incarnation") && !(await isAwake(env, sandboxKey))) return PROCESS_LOST;
    return await outcomeOf(await fetchBridge(env, sandboxKey, path, { headers, ...defined({ signal }) }));
  } catch (error) {
    if (error instanceof AuthFault) return { kind: "refused", status: 500, error: error.code, message: error.message };
    log.error("no way to the bridge:", error);
    return { kind: "unreachable", message: "no way to it", retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
}

/**
 * A request to the bridge, whose container starts if it sleeps. A redirect would carry the secret to another address: none counts.
 * @throws {AuthFault} `misconfigured`.
 */
export async function fetchBridge(
  env: BridgeEnv,
  sandboxKey: string,
  path: string,
  init: RequestInit,
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("Authorization", await authorization(env, sandboxKey));
  const asked: RequestInit = { ...init, headers, redirect: "manual" };
  if (env.BRIDGE_URL) return fetchLocal(env, path, asked);
  return containerOf(env, sandboxKey).fetch(new Request(`http://bridge${path}`, asked), BRIDGE_PORT);
}

/** Asks the bridge something else. @returns undefined where none answers in time: asking never starts a container, and never fails. */
export async function askBridge(
  env: BridgeEnv,
  sandboxKey: string,
  question: BridgeQuestion,
): Promise<BridgeAnswer | undefined> {
  try {
    if (!env.BRIDGE_URL) return await env.Sandbox.getByName(sandboxKey).askBridge(question, sandboxKey);
    const { path, init } = questionTo(question, sandboxKey, bridgeSecret(env));
    return await readAnswer(await fetchLocal(env, path, init));
  } catch (error) {
    log.warn("no answer from the bridge:", error);
    return undefined; // It is down, or took too long; or its container's object was reset.
  }
}

/** Whether the container runs. A local bridge always does. */
export async function isAwake(env: BridgeEnv, sandboxKey: string): Promise<boolean> {
  return env.BRIDGE_URL ? true : env.Sandbox.getByName(sandboxKey).isRunning();
}

const PROCESS_LOST: AttachOutcome = {
  kind: "refused",
  status: 404,
  error: "not_found",
  message: "process lost: the container that it ran in is gone",
};

/** The token that the bridge of a sandbox wants to see. */
async function authorization(env: BridgeEnv, sandboxKey: string): Promise<string> {
  // The local bridge is shared, and so is its secret.
  const token = env.BRIDGE_URL ? bridgeSecret(env) : await containerToken(env, env.Sandbox.idFromName(sandboxKey));
  return `Bearer ${token}`;
}

/** The meaning of an answer. Without a WebSocket: a refusal is the bridge's own, the platform has other words. */
async function outcomeOf(response: Response): Promise<AttachOutcome> {
  const { status, webSocket: socket } = response;
  if (socket) {
    // A Blob, the default of later compatibility dates, can't be passed on by send().
    socket.binaryType = "arraybuffer";
    return { kind: "open", socket };
  }
  const body = await readText(response, MAX_REFUSAL_BYTES, REFUSAL_PATIENCE_MS);
  const { text } = body;
  const said = readSaid(text);
  const message = (said.message ?? text).slice(0, MAX_MESSAGE_CHARACTERS);
  if (said.error !== undefined && (status < 500 || said.error === "logs_full")) {
    // A container keeps the secret it was started with.
    if (status === 401) log.error("the bridge refuses our secret: was STDIO_TOKEN changed since it was started?");
    return { kind: "refused", status, error: said.error, message };
  }
  // The client is told the message; the rest of the platform's words stays in the log.
  log.warn(`the bridge was not reached (${status}): ${text.slice(0, MAX_LOGGED_CHARACTERS)}`);
  const retryAfter = response.headers.get("Retry-After");
  if (said.error === "stopping") {
    return { kind: "unreachable", message, retryAfterSeconds: STOPPING_RETRY_SECONDS, isStopping: true };
  }
  // Words that did not come in time may be the bridge's own, on a hop that went silent behind the status.
  const isUnheard = body.kind === "cut" && body.reason === "too_slow";
  if (status < 500 && !isUnheard && !PASSING.includes(status) && retryAfter === null) {
    // Another server on its port: a container that does not run, or is starting, is told of by a status from 500 on.
    const foreign = `what answers in the bridge's place, with status ${status}, is no bridge`;
    return { kind: "refused", status: 502, error: "no_bridge", message: foreign };
  }
  const seconds = Math.min(Number(retryAfter), MAX_RETRY_AFTER_SECONDS);
  if (seconds > 0) return { kind: "unreachable", message, retryAfterSeconds: seconds, isAskedToWait: true };
  return { kind: "unreachable", message, retryAfterSeconds: RETRY_AFTER_SECONDS };
}
