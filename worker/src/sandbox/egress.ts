// Which hosts a sandbox may reach: the setting, and what it means in the words of the Containers SDK.

import { AuthFault } from "../auth/fault.ts";

export interface EgressEnv {
  /** Hosts, comma separated, `*` for any run of characters; `none`: no host at all. Absent or empty: all of the internet. */
  readonly EGRESS_ALLOW?: string;
}

/** Letters, digits, dots, hyphens and `*`; the SDK compares the host name alone, without a port. */
const HOST = /^[a-z0-9*]([a-z0-9.*-]*[a-z0-9*])?$/;

/**
 * The hosts that may be reached; undefined where nothing is restricted.
 * @throws {AuthFault} `misconfigured`.
 */
export function readEgress(env: EgressEnv): readonly string[] | undefined {
  const hosts = (env.EGRESS_ALLOW ?? "").split(",").flatMap((item) => item.trim().toLowerCase() || []);
  if (hosts.length === 0) return undefined;
  if (hosts.length === 1 && hosts[0] === "none") return [];
  if (!hosts.every((host) => HOST.test(host))) {
    throw new AuthFault(
      "misconfigured",
      'This server is not set up: EGRESS_ALLOW must be "none", or host names, comma separated, without scheme or port',
    );
  }
  return hosts;
}
