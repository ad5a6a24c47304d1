// Whether a token was made for one of our clients. Shared by signed and by introspected tokens.

import { AuthFault } from "../refusal/fault.ts";
import type { Claims } from "./identity.ts";

/**
 * Refuses a token that says it was issued to a client which is not on the list, whatever its audience:
 * anyone can register a client at the issuer and ask it for a token with our address as `resource` (RFC 8707),
 * which then stands in `aud`. A token for our address alone must therefore name one of our clients.
 * @throws {AuthFault} `wrong_audience`.
 */
export function requireAllowedClient(claims: Claims, allowed: readonly string[]): void {
  for (const client of [claims.client_id, claims.azp]) {
    if (client === undefined) continue;
    if (typeof client !== "string" || !allowed.includes(client)) {
      throw new AuthFault("wrong_audience", "The token was made for another application");
    }
  }
  const names = [claims.client_id, claims.azp, ...(Array.isArray(claims.aud) ? claims.aud : [claims.aud])];
  if (names.some((name) => typeof name === "string" && allowed.includes(name))) return;
  throw new AuthFault("wrong_audience", "The token does not say for which application it was made");
}
