// Asks the server, and reads its answer of any kind.

import { isRecord } from "sandbox-stdio/core";

/** A field of text that is not empty. */
export function textOf(value: unknown, field: string): string | undefined {
  if (!isRecord(value)) return undefined;
  const text = value[field];
  return typeof text === "string" && text !== "" ? text : undefined;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  /** Without a reason: the answer can't be read. With `status` the server has refused, and `value` is its answer. */
  | { readonly ok: false; readonly reason?: string; readonly status?: number; readonly value?: unknown };

/** Asks a route. Never throws. */
export async function ask(
  method: string,
  path: string,
  body?: unknown,
  more: Pick<RequestInit, "signal" | "keepalive"> = {},
): Promise<Answer<unknown>> {
  try {
    const response = await fetch(path, {
      method,
      headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      cache: "no-store",
      ...more,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status === 204) return { ok: true, value: undefined };
    const value: unknown = await response.json();
    return response.ok
      ? { ok: true, value }
      : { ok: false, reason: textOf(value, "message") ?? `HTTP ${response.status}`, status: response.status, value };
  } catch (error) {
    // fetch rejects if no server answers, json() if the answer is no JSON: both are "not our server, or not now".
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

export function unreadable(): Answer<never> {
  return { ok: false };
}
