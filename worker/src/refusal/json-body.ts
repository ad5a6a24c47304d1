// The JSON object that a request to the API brings.

import { nearestName } from "@sbx/api";
import { REST_BYTES, readText } from "../base/read-text.ts";
import { AuthFault } from "./fault.ts";

const MAX_BODY_BYTES = 16 * 1024;
const BODY_PATIENCE_MS = 10_000;

export type JsonBody = Readonly<Record<string, unknown>>;

/**
 * @param names The fields that it may have.
 * @throws {AuthFault} `bad_request` for anything but a JSON object of at most 16 KiB, `bad_encoding`, `unknown_field`.
 */
export async function jsonBody(request: Request, names: readonly string[]): Promise<JsonBody> {
  requireKnown([...new URL(request.url).searchParams.keys()], names, " in the query");
  const body = await readText(request, MAX_BODY_BYTES, BODY_PATIENCE_MS, REST_BYTES);
  if (body.kind === "cut") {
    const isLong = body.reason === "too_long";
    throw new AuthFault(
      "bad_request",
      isLong ? `The body is longer than ${MAX_BODY_BYTES} bytes` : `The body did not come in ${BODY_PATIENCE_MS} ms`,
    );
  }
  if (!body.isUtf8) throw new AuthFault("bad_encoding", "The body is not UTF-8");
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
  requireKnown(Object.keys(value), names);
  return value as JsonBody;
}

/** @throws {AuthFault} `unknown_field`. */
export function requireNoQuery({ url }: Pick<Request, "url">): void {
  const [field] = new URL(url).searchParams.keys();
  if (field !== undefined)
    throw new AuthFault("unknown_field", `Unknown field "${field}" in the query: this takes none`);
}

/** @param where Where none of the names may stand, if so. @throws {AuthFault} `unknown_field` with the nearest name. */
function requireKnown(fields: readonly string[], names: readonly string[], where?: string): void {
  const field = fields.find((one) => where !== undefined || !names.includes(one));
  if (field === undefined) return;
  const words = `Unknown field "${field}"${where ?? ""}: the nearest${where === undefined ? "" : " of the body"} is`;
  throw new AuthFault("unknown_field", `${words} "${nearestName(field, names)}"`);
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
