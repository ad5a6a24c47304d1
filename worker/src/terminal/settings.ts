// The settings of `/terminal/*`, read and checked in one place.

import { misconfigured } from "../auth/entry-settings.ts";
import { readServiceUrl } from "../auth/settings.ts";

export interface TerminalEnv {
  /** Local only: a bridge at this address instead of one in a container. Default: none. */
  readonly BRIDGE_URL?: string;
  /** What answers at `/terminal/PROJECT`: `session`, or `ttyd:PORT`, a ttyd in the sandbox. Default: `session`. */
  readonly TERMINAL_UPSTREAM?: string;
  /**
   * With `BRIDGE_URL` only: the address of that ttyd, such as `http://127.0.0.1:7681`; `{sandbox}` stands for the name.
   * Default: none.
   */
  readonly TERMINAL_URL?: string;
}

export type TerminalSettings = {
  /** Undefined: our own session. */
  readonly ttyd: TtydSettings | undefined;
};

export type TtydSettings = {
  /** In the sandbox's container. */
  readonly port: number;
  /** Set if there are no containers. Without a slash at its end. */
  readonly localUrl: string | undefined;
};

const DEFAULT_PORT = 7681;
/** Ours, and the one that the Sandbox SDK keeps for itself. */
const TAKEN_PORTS = [8080, 3000];

/** @throws {AuthFault} `misconfigured`, naming the variable. */
export function readTerminalSettings(env: TerminalEnv): TerminalSettings {
  return { ttyd: readUpstream(env) };
}

function readUpstream(env: TerminalEnv): TtydSettings | undefined {
  const value = env.TERMINAL_UPSTREAM || "session";
  if (value === "session") return undefined;
  const [, digits] = /^ttyd(?::(\d{4,5}))?$/.exec(value) ?? ["", "0"];
  const port = Number(digits ?? DEFAULT_PORT);
  if (port < 1024 || port > 65_535 || TAKEN_PORTS.includes(port)) {
    throw misconfigured(`TERMINAL_UPSTREAM must be "session", or "ttyd:PORT" with a port that is not ours`);
  }
  const localUrl = env.BRIDGE_URL ? readServiceUrl("TERMINAL_URL", env.TERMINAL_URL) : undefined;
  if (env.BRIDGE_URL && localUrl === undefined) {
    throw misconfigured("TERMINAL_URL must say where the ttyd is, since BRIDGE_URL is set and there are no containers");
  }
  return { port, localUrl };
}
