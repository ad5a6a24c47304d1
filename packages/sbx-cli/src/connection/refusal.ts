// What a server says in place of what was asked for: `{"error","message"}`, for a person. Pure.

import { oneLine } from "../base/plain-text.ts";

export type Refusal = { readonly code?: string | undefined; readonly message?: string | undefined };

/** A refusal `{"error","message"}`, each on one line. */
export function refusalOf(body: string): Refusal {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // A page for people, from something in between.
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
