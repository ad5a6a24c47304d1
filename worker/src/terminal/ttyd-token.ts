// ttyd's own ways to bring a token: as the password of Basic credentials, and as `AuthToken` in the client's first message.
// Both are put into the words of everybody else, `Authorization: Bearer`; nothing is believed here.

import { cloneBytes, MAX_CONTROL_IN_BYTES } from "sandbox-stdio/core";
import type { EntrySettings } from "../auth/entry-settings.ts";
import { needsOrigin, requirePublicOrigin } from "../auth/origin.ts";
import { isTokenShaped } from "../auth/token-shape.ts";

export type Message = string | ArrayBuffer;

const MAX_FIRST_BYTES = MAX_CONTROL_IN_BYTES;

/** The request with its Basic credentials as a token, and those credentials; undefined where it has none that hold a token. */
export type Basic = { readonly request: Request; readonly credentials: string };

/**
 * A browser that knows Basic credentials adds them by itself for any page: so of a page they count as the cookie does.
 * @throws {AuthFault} `bad_origin`.
 */
export function readBasic(request: Request, settings: Pick<EntrySettings, "publicOrigin">): Basic | undefined {
  const [, credentials = ""] = /^basic +(\S+)$/i.exec(request.headers.get("Authorization") ?? "") ?? [];
  const token = tokenOfPair(credentials);
  if (token === undefined) return undefined;
  // A request without a browser has no Origin.
  if (request.headers.has("Origin") && needsOrigin(request)) requirePublicOrigin(request, settings);
  return { request: withToken(request, token), credentials };
}

/**
 * Reads a client's first message, `{"AuthToken","columns","rows"}`. The token stands there as it is, or as the base64 of
 * `USER:TOKEN`, which is what ttyd's page says.
 * @returns The token, and the message without it; undefined where it holds none.
 */
export function readFirstMessage(
  message: Message,
): { readonly token: string; readonly withoutToken: Message } | undefined {
  if (length(message) > MAX_FIRST_BYTES) return undefined;
  const fields = jsonObject(typeof message === "string" ? message : new TextDecoder().decode(message));
  const text = fields?.AuthToken;
  if (typeof text !== "string") return undefined;
  const token = isTokenShaped(text) ? text : tokenOfPair(text);
  if (token === undefined) return undefined;
  const rest = JSON.stringify({ ...fields, AuthToken: "" });
  return {
    token,
    withoutToken: typeof message === "string" ? rest : cloneBytes(new TextEncoder().encode(rest)).buffer,
  };
}

/** Bytes, or characters of text. */
export function length(message: Message): number {
  return typeof message === "string" ? message.length : message.byteLength;
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined; // Not JSON.
  }
}

/** The same request, with a token in its header. */
export function withToken(request: Request, token: string): Request {
  const headers = new Headers(request.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return new Request(request, { headers });
}

function tokenOfPair(base64: string): string | undefined {
  try {
    const pair = atob(base64);
    const token = pair.slice(pair.indexOf(":") + 1);
    return pair.includes(":") && isTokenShaped(token) ? token : undefined;
  } catch {
    return undefined; // Not base64.
  }
}
