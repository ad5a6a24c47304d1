// Where a server's tokens come from, as it says itself (RFC 9728). Its word: the caller decides whether to believe it.

import { isRecord } from "sandbox-stdio/core";
import { type Endpoint, readEndpoint } from "../base/endpoint.ts";

const TIMEOUT_MS = 5_000;
const MOST = 4;

/** @returns None where it does not say, or can't be asked: logging in does not need it. */
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
      .slice(0, MOST)
      .filter((one) => typeof one === "string")
      .map(readEndpoint);
  } catch {
    return [];
  }
}
