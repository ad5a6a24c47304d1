// The hosts that a sandbox may reach: the setting, and its meaning in the words of the Containers SDK.

import { AuthFault } from "../refusal/fault.ts";

export interface EgressEnv {
  /** Hosts that sandboxes may reach on ports 80 and 443, comma separated, with `*`; `none`: no host. Default: all. */
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

/** Whether a host may be reached: `*` in a pattern stands for any run of characters. A dot at the end of `hostname` says nothing. */
export function isAllowedHost(hostname: string, patterns: readonly string[]): boolean {
  const host = hostname.toLowerCase().replace(/\.+$/, "");
  return patterns.some((pattern) => matches(host, pattern.split("*")));
}

/** Whether `host` is these parts, with anything between them: each is looked for behind the one before, so no text is slow. */
function matches(host: string, parts: readonly string[]): boolean {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return host === first;
  if (!host.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = host.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return host.length - last.length >= at && host.endsWith(last);
}
