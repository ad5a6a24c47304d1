// Asks the Worker as the runtime does, with variables of the test's own.
import { createExecutionContext } from "cloudflare:test";
import type { Env } from "../../src/env.ts";
import worker from "../../src/index.ts";
import { ORIGIN } from "../auth/realm.ts";

/** @param env What of it a test leaves out, its question must not need. */
export function ask(path: string, init: RequestInit, env: object): Promise<Response> {
  return worker.fetch(new Request(`${ORIGIN}${path}`, init), env as Env, createExecutionContext());
}
