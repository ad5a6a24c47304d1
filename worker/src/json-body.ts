// The JSON object that a request to the API brings.

import { AuthFault } from "./auth/fault.ts";
import { REST_BYTES, readText } from "./read-text.ts";

const MAX_BODY_BYTES = 16 * 1024;
const BODY_PATIENCE_MS = 10_000;

export type JsonBody = Readonly<Record<string, unknown>>;

/** @throws {AuthFault} `bad_request` for anything but a JSON object of at most 16 KiB. */
export async function jsonBody(request: Request): Promise<JsonBody> {
  const body = await readText(request, MAX_BODY_BYTES, BODY_PATIENCE_MS, REST_BYTES);
  if (body.kind === "cut") {
    const isLong = body.reason === "too_long";
    throw new AuthFault(
      "bad_request",
      isLong ? `The body is longer than ${MAX_BODY_BYTES} bytes` : `The body did not come in ${BODY_PATIENCE_MS} ms`,
    );
  }
  const { text } = body;
  let value: unknown;
  try {
    value = JSON.parse(text === "" ? "{}" : text);
  } catch {
    throw new AuthFault("bad_request", "The body is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AuthFault("bad_request", "The body must be a JSON object");
  }
  return value as JsonBody;
}

/** @throws {AuthFault} `bad_request` naming the field. */
export function bodyText(body: JsonBody, name: string, fallback?: string): string {
  const value = body[name] ?? fallback;
  if (typeof value === "string") return value;
  throw new AuthFault("bad_request", `"${name}" must be a text`);
}

/** @throws {AuthFault} `bad_request` naming the field and what it may be. */
export function bodyInteger(
  body: JsonBody,
  name: string,
  range: { min: number; max: number; fallback: number },
): number {
  const value = body[name] ?? range.fallback;
  if (typeof value === "number" && Number.isInteger(value) && value >= range.min && value <= range.max) return value;
  throw new AuthFault("bad_request", `"${name}" must be an integer from ${range.min} to ${range.max}`);
}

/** @throws {AuthFault} `bad_request` naming the field. */
export function bodyBoolean(body: JsonBody, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value === "boolean") return value;
  throw new AuthFault("bad_request", `"${name}" must be true or false`);
}
