// The way to a ttyd that runs in a sandbox: to its port in the container, or to a local one. The only file
// of the terminal that knows there are two. Never starts a container: no ttyd runs in one that does not run.

import { log } from "../base/log.ts";
import { type BridgeEnv, isAwake } from "../bridge/upstream.ts";
import { containerOf } from "../sandbox/containers.ts";
import { responseInTime } from "../sandbox/given-up.ts";
import type { TtydAddress } from "./ttyd-address.ts";

/** Subprotocol of ttyd. */
const TTY_PROTOCOL = "tty";
const PATIENCE_MS = 10_000;

/** @returns undefined where there is no ttyd that takes connections. */
export async function openTtyd(env: BridgeEnv, address: TtydAddress): Promise<WebSocket | undefined> {
  const headers = {
    Upgrade: "websocket",
    "Sec-WebSocket-Protocol": TTY_PROTOCOL,
  };
  const response = await ask(env, address, "/ws", headers);
  const socket = response?.webSocket;
  if (socket) {
    // A Blob, the default of later compatibility dates, can't be passed on by send().
    socket.binaryType = "arraybuffer";
    return socket;
  }
  if (response !== undefined) log.warn(`the ttyd answered ${response.status} in place of a WebSocket`);
  await response?.body?.cancel();
  return undefined;
}

/** The ttyd's answer at one of its routes. @returns undefined if none answers. */
export function askTtyd(env: BridgeEnv, address: TtydAddress, path: "/" | "/token"): Promise<Response | undefined> {
  return ask(env, address, path, {});
}

/** The request is made from nothing: no header, cookie or query of a client reaches the sandbox. */
async function ask(
  env: BridgeEnv,
  address: TtydAddress,
  path: string,
  headers: Record<string, string>,
): Promise<Response | undefined> {
  try {
    return await responseInTime(askNow(env, address, path, headers), PATIENCE_MS);
  } catch (error) {
    log.warn("no way to the ttyd:", error);
    return undefined;
  }
}

async function askNow(
  env: BridgeEnv,
  address: TtydAddress,
  path: string,
  headers: Record<string, string>,
): Promise<Response | undefined> {
  if (address.kind === "local") return fetch(`${address.url}${path}`, { headers, redirect: "manual" });
  const { sandboxKey, port } = address;
  if (!(await isAwake(env, sandboxKey))) return undefined;
  const request = new Request(`http://ttyd${path}`, { headers, redirect: "manual" });
  return containerOf(env, sandboxKey).fetch(request, port);
}
