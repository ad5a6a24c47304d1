// The Worker with two things that production must not have: a way to abort a session's Durable Object, and a clock that
// runs faster (CHAOS_SPEED). Never part of a deployment: wrangler.toml does not know this file.

import { authenticate } from "../src/auth/authenticate.ts";
import { sessionKey } from "../src/auth/names.ts";
import { readAuthSettings } from "../src/auth/settings.ts";
import type { Env } from "../src/env.ts";
import worker, { SessionObject as ProductionSessionObject } from "../src/index.ts";
import { speedUp } from "./fast-clock.ts";

export { AddressObject, CounterObject, Sandbox, SandboxDirectory, TenantObject } from "../src/index.ts";

type ChaosEnv = Env & { readonly CHAOS_SPEED?: string };

export class SessionObject extends ProductionSessionObject {
  constructor(ctx: DurableObjectState, env: ChaosEnv) {
    speedUp(ctx, Number(env.CHAOS_SPEED ?? 1));
    super(ctx, env);
  }

  /** Ends this life of the object as a crash would. Throws where it was called: there is nobody left to answer. */
  abort(): void {
    this.ctx.abort(ABORTED);
  }
}

const ABORTED = "aborted by the chaos kit";

/** `POST /chaos/abort?sandbox=&session=`, with a token of the session's tenant. */
async function abortSession(request: Request, env: ChaosEnv): Promise<Response> {
  const { identity } = await authenticate(request, readAuthSettings(env));
  const { searchParams } = new URL(request.url);
  const name = await sessionKey(identity, searchParams.get("sandbox") ?? "", searchParams.get("session") ?? "");
  // Bound by its name, it is the class of this file, which Env does not know.
  const sessions = env.SESSION as unknown as DurableObjectNamespace<SessionObject>;
  try {
    await sessions.getByName(name).abort();
  } catch (error) {
    if (String(error).includes(ABORTED)) return new Response(null, { status: 204 });
    throw error;
  }
  throw new Error("The Durable Object was not aborted");
}

export default {
  async fetch(request: Request, env: ChaosEnv, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/chaos/abort") return abortSession(request, env);
    return worker.fetch(request, env, ctx);
  },
};
