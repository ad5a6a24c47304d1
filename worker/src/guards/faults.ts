// How the Worker answers what its routes throw.

import type { Context } from "hono";
import { routePath } from "hono/route";
import { logRefused } from "../audit/worker-log.ts";
import { log } from "../base/log.ts";
import { AuthFault, refusal } from "../refusal/fault.ts";

export function answerFault(error: Error, c: Context): Response {
  if (error instanceof AuthFault) {
    logRefused(c.req.raw, error);
    return refusal(error);
  }
  // The cause stays in the log, beside the route: a path may hold a ticket.
  log.error(`${c.req.method} ${routePath(c, -1)} failed:`, error);
  return Response.json({ error: "internal", message: "something went wrong here" }, { status: 500 });
}
