// Calls of the server's HTTP interface.

import { defined, isRecord } from "sandbox-stdio/core";

/** A field that is a non-empty text. */
export function textOf(value: unknown, field: string): string | undefined {
  if (!isRecord(value)) return undefined;
  const text = value[field];
  return typeof text === "string" && text !== "" ? text : undefined;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  /** Without `reason` the response was invalid. With `status` the server refused, and `value` is its response. */
  | { readonly ok: false; readonly reason?: string; readonly status?: number; readonly value?: unknown };

/** Never throws. */
export async function callApi(
  method: string,
  path: string,
  body?: unknown,
  { ticket, ...options }: Pick<RequestInit, "signal" | "keepalive"> & { readonly ticket?: string | undefined } = {},
): Promise<Answer<unknown>> {
  try {
    const response = await fetch(path, {
      method,
      headers: {
        Accept: "application/json",
        ...defined({ "Content-Type": body === undefined ? undefined : "application/json", "X-Stdio-Ticket": ticket }),
      },
      cache: "no-store",
      ...options,
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    });
    if (response.status === 204) return { ok: true, value: undefined };
    const value: unknown = await response.json();
    return response.ok
      ? { ok: true, value }
      : { ok: false, reason: textOf(value, "message") ?? `HTTP ${response.status}`, status: response.status, value };
  } catch (error) {
    // No response, or not JSON: not our server, or not now.
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

export function unreadable(): Answer<never> {
  return { ok: false };
}
