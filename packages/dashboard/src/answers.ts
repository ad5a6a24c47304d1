// Reads what a server answered, whatever that is.

import { isRecord } from "sandbox-stdio/core";

/** A field of text that is not empty. */
export function textOf(value: unknown, field: string): string | undefined {
  if (!isRecord(value)) return undefined;
  const text = value[field];
  return typeof text === "string" && text !== "" ? text : undefined;
}
