// The callers of `/mcp` (M3): a Bearer header and nothing else, no page of another origin. A refusal tells where to log in.

import { logRefused } from "../audit/worker-log.ts";
import { readEntrySettings } from "../auth/provider.ts";
import { type Authenticated, type IdentifyEnv, identifiedBefore, identify } from "../guards/identify.ts";
import { AuthFault, refusal } from "../refusal/fault.ts";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** @throws {AuthFault} `bad_origin`, `no_token`, and as `identify`. */
export async function caller(request: Request, env: IdentifyEnv): Promise<Authenticated> {
  const origin = request.headers.get("Origin");
  if (origin !== null && origin !== readEntrySettings(env).publicOrigin) {
    throw new AuthFault("bad_origin", "Only this server's own pages may ask here");
  }
  if (!/^bearer /i.test(request.headers.get("Authorization") ?? "")) {
    throw new AuthFault("no_token", "Give the token in the Authorization header, as Bearer");
  }
  return identify(withoutCookie(request), env);
}

/** Another system's `authenticate` may look at a cookie first, and so take the token of one user for another's. */
function withoutCookie(request: Request): Request {
  if (!request.headers.has("Cookie")) return request;
  const headers = new Headers(request.headers);
  headers.delete("Cookie");
  return new Request(request.url, { method: request.method, headers });
}

/** A request to the API that a call here leads to: it has the same caller, whom the Worker does not identify again. */
export function innerRequest(outer: Request, who: Authenticated, path: string, init: RequestInit): Request {
  const headers = new Headers(outer.headers);
  for (const name of [...headers.keys()])
    if (/^(content-|accept|mcp-|last-event-id|transfer-)/.test(name)) headers.delete(name);
  const request = new Request(new URL(path, outer.url), { ...init, headers });
  identifiedBefore(request, who);
  return request;
}

/** The parts of a route's context that a refusal needs. */
type Refused = { readonly req: { readonly raw: Request }; readonly env: IdentifyEnv };

/** Answers a fault with the place where the caller may log in (RFC 9728). */
export function refuseWithMetadata(error: Error, c: Refused): Response {
  if (!(error instanceof AuthFault)) throw error;
  logRefused(c.req.raw, error);
  const response = refusal(error);
  const challenge = response.headers.get("WWW-Authenticate");
  if (challenge === null) return response;
  const at = `resource_metadata="${readEntrySettings(c.env).linkBase}${METADATA_PATH}"`;
  response.headers.set("WWW-Authenticate", challenge === "Bearer" ? `Bearer ${at}` : `${challenge}, ${at}`);
  return response;
}
