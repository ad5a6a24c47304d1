// Parses a server's error response `{"error","message"}`. Pure.

import { oneLine } from "../base/plain-text.ts";

export type Refusal = { readonly code?: string | undefined; readonly message?: string | undefined };

/** Each field on one line. */
export function refusalOf(body: string): Refusal {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // A web page, perhaps of a proxy.
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const { error, message } = value as { error?: unknown; message?: unknown };
  const code = textOf(error);
  return { code, message: textOf(message) ?? code };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? oneLine(value) : undefined;
}
