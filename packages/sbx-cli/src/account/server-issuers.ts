// The issuers that a server names (RFC 9728). The caller decides whether to trust them.

import { isRecord } from "sandbox-stdio/core";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";

const TIMEOUT_MS = 5_000;
const MAX_ISSUERS = 4;

/** @returns Empty if the server names none or fails: a login does not need them. */
export async function issuersOf({ httpBase }: Endpoint): Promise<readonly Endpoint[]> {
  try {
    const response = await fetch(`${httpBase}/.well-known/oauth-protected-resource`, {
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const value: unknown = response.ok ? await response.json() : undefined;
    const named: unknown = isRecord(value) ? value.authorization_servers : undefined;
    if (!Array.isArray(named)) return [];
    return named
      .slice(0, MAX_ISSUERS)
      .filter((one) => typeof one === "string")
      .map(readEndpoint);
  } catch {
    return [];
  }
}
