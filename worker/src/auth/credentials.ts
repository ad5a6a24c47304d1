// The place of a request's token, or of its ticket. Finds and tells the place; believes nothing.

import { AuthFault } from "../refusal/fault.ts";
import { cookieValue } from "./cookie.ts";

/** `cookie` is the only one that a browser adds by itself, for any page that asks. */
export type CredentialSource = "authorization" | "subprotocol" | "cookie" | "query";

export interface Credential {
  readonly source: CredentialSource;
  /** The token; with `cookie`, the encrypted session. */
  readonly value: string;
}

const BEARER_PROTOCOL = "bearer.";
const TICKET_PROTOCOL = "ticket.";
const TICKET_HEADER = "X-Stdio-Ticket";

/**
 * The request's credential: the header, then the subprotocol, then the cookie, then `?token=`, as PandaStack's
 * dashboard names it `?access_token=`. The first one
 * found counts; that it is refused does not give another one a chance.
 * @param cookieName The session cookie's.
 * @throws {AuthFault} `bad_subprotocol`, `malformed`.
 */
export function findCredential(request: Request, cookieName: string): Credential | undefined {
  const offered = secretProtocol(request, BEARER_PROTOCOL, "bearer.TOKEN");
  const header = bearerHeader(request);
  if (header !== undefined) return { source: "authorization", value: header };
  if (offered !== undefined) return { source: "subprotocol", value: offered };
  const cookie = cookieValue(request, cookieName);
  if (cookie !== undefined) return { source: "cookie", value: cookie };
  const { searchParams } = new URL(request.url);
  const query = searchParams.get("token") ?? searchParams.get("access_token");
  return query ? { source: "query", value: query } : undefined;
}

/**
 * The ticket of a request to attach: in the header, as a subprotocol, or in `?ticket=`.
 * @throws {AuthFault} `bad_subprotocol`; `malformed` where more than one is given.
 */
export function findTicket(request: Request): string | undefined {
  const offered = secretProtocol(request, TICKET_PROTOCOL, "ticket.TICKET");
  const header = request.headers.get(TICKET_HEADER);
  const given = [header, offered, ...new URL(request.url).searchParams.getAll("ticket")];
  const [ticket, ...others] = given.filter((one) => one !== null && one !== undefined);
  if (others.length > 0) throw new AuthFault("malformed", "Give one ticket, in one place");
  return ticket;
}

/** The subprotocols a client offers that the server may select, in its order; never one that holds a secret. */
export function offeredProtocols(request: Request): string[] {
  const isSecret = (protocol: string) => protocol.startsWith(BEARER_PROTOCOL) || protocol.startsWith(TICKET_PROTOCOL);
  return subprotocols(request).filter((protocol) => !isSecret(protocol));
}

function subprotocols(request: Request): string[] {
  return (request.headers.get("Sec-WebSocket-Protocol") ?? "")
    .split(",")
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== "");
}

/** The text behind the prefix in the one subprotocol that begins with it. */
function secretProtocol(request: Request, prefix: string, shape: string): string | undefined {
  const [found, ...others] = subprotocols(request).filter((protocol) => protocol.startsWith(prefix));
  if (found === undefined) return undefined;
  // Alone, it would have to be selected, and so sent back: browsers fail a handshake that selects nothing.
  if (others.length > 0 || offeredProtocols(request).length === 0) {
    throw new AuthFault("bad_subprotocol", `Offer ${shape} once, beside the subprotocol to be selected`);
  }
  return found.slice(prefix.length);
}

function bearerHeader(request: Request): string | undefined {
  const header = request.headers.get("Authorization");
  // Another scheme is meant for someone before us, a proxy perhaps.
  if (header === null || !/^bearer\b/i.test(header)) return undefined;
  const token = /^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
  if (token === undefined) throw new AuthFault("malformed", "The Authorization header can't be read");
  return token;
}
