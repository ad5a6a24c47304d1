// How the bridge says no over HTTP.

import { CLOSE } from "sandbox-stdio/core";
import type { FindResult } from "./registry.ts";

/** The close code of a session that was not found or not started. */
export function codeOf(fault: (FindResult & { ok: false })["fault"]): number {
  if (fault === "not_found") return CLOSE.notFound;
  if (fault === "stopping" || fault === "logs_full") return CLOSE.unavailable;
  return fault === "conflict" ? CLOSE.conflict : CLOSE.cannotStart;
}

export function refuse(status: number, error: string, message: string): Response {
  return Response.json({ error, message }, { status });
}
