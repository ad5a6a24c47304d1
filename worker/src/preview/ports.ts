// The ports of a sandbox that may be looked at.

import { CLOSE } from "sandbox-stdio/core";
import { type CommandEnv, commandRefusal } from "../attach/command-policy.ts";
import type { BridgeEnv } from "../bridge/upstream.ts";
import { AuthFault } from "../refusal/fault.ts";
import type { Refusal } from "../refusal/refusal.ts";
import { BRIDGE_PORT } from "../sandbox/containers.ts";

export type PortEnv = CommandEnv & Pick<BridgeEnv, "BRIDGE_URL" | "BRIDGE">;

/** The server of the SDK's image: it starts what anybody asks it to, and has no page. */
const SDK_PORT = 3000;

/** @throws {AuthFault} `bad_request`. */
export function readPort(text: string): number {
  const port = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new AuthFault("bad_request", "A port is a number from 1 to 65535");
}

/** Why a port may not be looked at; undefined if it may. The policy is that of a forward. */
export function portRefusal(env: PortEnv, port: number, isAdmin: boolean): Refusal | undefined {
  if (portsOfOurs(env).includes(port)) {
    const message = `port ${port} is the sandbox's own: start the server at another, such as 5173`;
    return { code: CLOSE.forbidden, error: "port_forbidden", message };
  }
  return commandRefusal(env, `tcp:${port}`, isAdmin);
}

function portsOfOurs({ BRIDGE, BRIDGE_URL }: PortEnv): readonly number[] {
  if (BRIDGE !== undefined) return [];
  return BRIDGE_URL ? [Number(new URL(BRIDGE_URL).port || 80)] : [BRIDGE_PORT, SDK_PORT];
}
