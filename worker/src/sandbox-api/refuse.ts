// How the sandbox API refuses (V1): `{error, code}`, the words first, where other routes say `{error, message}`.

import { logRefused } from "../audit/worker-log.ts";
import { log } from "../base/log.ts";
import type { ProgramAnswer } from "../programs/operations/call.ts";
import { respond } from "../programs/respond.ts";
import { AuthFault, refusal } from "../refusal/fault.ts";

export function refuse(status: number, code: string, error: string): Response {
  return Response.json({ error, code }, { status, headers: { "Cache-Control": "no-store" } });
}

/** The same refusal as another route's, in the words of this one. */
export function refuseAs(answer: ProgramAnswer): Response {
  const { error: code, message: error } = answer.body;
  return respond({ ...answer, body: { error, code } });
}

/** @param response Of a route whose refusals are JSON. */
export async function reworded(response: Response): Promise<Response> {
  if (response.status < 400) return response;
  const { error: code, message: error } = (await response.json()) as { error?: unknown; message?: unknown };
  return new Response(JSON.stringify({ error, code }), response);
}

export async function answerFault(error: Error, { req }: { readonly req: { readonly raw: Request } }) {
  if (!(error instanceof AuthFault)) {
    // The cause stays in the log.
    log.error("a request failed:", error);
    return refuse(500, "internal", "something went wrong here");
  }
  logRefused(req.raw, error);
  return reworded(refusal(error));
}
