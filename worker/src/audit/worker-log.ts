// The caller of a request; and refusals before any session's audit was reached: a line of JSON each in the Worker's log.

import { defined } from "sandbox-stdio/core";
import type { Identity } from "../auth/identity.ts";
import { requestId } from "../base/request-id.ts";
import type { Actor, Place } from "./record.ts";

/** The most characters of a text that the caller may have written. */
const MAX_LOGGED_CHARACTERS = 256;

/** The address that a request comes from: Cloudflare tells it, never the client. */
export function addressOf(request: Request): string {
  return request.headers.get("CF-Connecting-IP") ?? "";
}

/** The caller of the API, for a session's audit. @param user In the words of the Project Service, if it was asked. */
export function actorOf(request: Request, identity: Identity, user = identity.subject): Actor {
  return { tenant: identity.tenantValue, user, address: addressOf(request) };
}

/** Neither the query nor a header is logged: there may be a token in them. */
export function logRefused(
  request: Request,
  fault: { readonly code: string; readonly message: string },
  identity?: Identity,
): void {
  const { pathname } = new URL(request.url);
  console.log(
    JSON.stringify({
      audit: "refused",
      time: new Date().toISOString(),
      method: request.method,
      path: clipped(pathname),
      error: fault.code,
      message: clipped(fault.message),
      address: addressOf(request),
      request: requestId(request),
      ...defined({ tenant: identity?.tenantValue, user: identity?.subject }),
    }),
  );
}

/** A refusal at a session that never was: nothing is stored of it. */
export function logUnrecorded(
  { sandbox = "", session = "", tenant, user, address }: Partial<Place> & Actor,
  { error, message }: { readonly error: string; readonly message: string },
): void {
  const where = { sandbox: clipped(sandbox), session: clipped(session) };
  const time = new Date().toISOString();
  console.log(
    JSON.stringify({ audit: "refused", time, ...where, error, message: clipped(message), address, tenant, user }),
  );
}

function clipped(text: string): string {
  return text.length <= MAX_LOGGED_CHARACTERS ? text : `${text.slice(0, MAX_LOGGED_CHARACTERS)}…`;
}
