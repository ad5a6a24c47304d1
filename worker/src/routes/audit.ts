// `GET …/sessions/NAME/audit`: the events of a session, page by page, for callers that may read it. Its session may be long gone.

import { nearestName } from "@sbx/api";
import { CLOSE } from "sandbox-stdio/core";
import type { AuditPage } from "../audit/trail.ts";
import { refuseHttp } from "../refusal/refusal.ts";

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
const FIELDS: readonly string[] = ["after", "limit"];

export type AuditPageQuery = { readonly after: number; readonly limit: number };

/** The query for a page; or the refusal. */
export function readAuditQuery(params: URLSearchParams): AuditPageQuery | Response {
  const field = [...params.keys()].find((name) => !FIELDS.includes(name));
  if (field !== undefined) {
    const message = `unknown field "${field}" in the query: the nearest is "${nearestName(field, FIELDS)}"`;
    return refuseHttp({ code: CLOSE.badRequest, error: "unknown_field", message });
  }
  const after = integer(params.get("after") ?? "0");
  const limit = integer(params.get("limit") ?? String(DEFAULT_LIMIT));
  if (after === undefined) return refuse('"after" must be the number of a record: its "seq", or 0');
  if (limit === undefined || limit < 1 || limit > MAX_LIMIT) return refuse(`"limit" must be from 1 to ${MAX_LIMIT}`);
  return { after, limit };
}

export function auditResponse(page: AuditPage): Response {
  return Response.json(page, { headers: { "Cache-Control": "no-store" } });
}

function integer(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function refuse(message: string): Response {
  return refuseHttp({ code: CLOSE.badRequest, error: "bad_request", message });
}
