// `GET /attach`: authenticates, reads the query, and hands the upgrade to the session's Durable Object.

import { CLOSE, OUTER_PROTOCOL, parseAttachQuery } from "@sbx/sandbox-stdio";
import { attachRight, completeQuery } from "./attach-right.ts";
import { type DialectName, requestOf } from "./attach-spec.ts";
import { offeredProtocols } from "./auth/credentials.ts";
import { AuthFault, refusal as authRefusal } from "./auth/fault.ts";
import { sandboxKey, sessionKey } from "./auth/names.ts";
import { readAuthSettings } from "./auth/settings.ts";
import type { Env } from "./env.ts";
import { refuseHttp, refuseUpgrade } from "./refusal.ts";

export async function attachRoute(request: Request, env: Env): Promise<Response> {
  if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket") {
    const body = { error: "upgrade_required", message: "/attach is a WebSocket" };
    return Response.json(body, { status: 426, headers: { Upgrade: "websocket" } });
  }
  const dialect = dialectOf(request);
  try {
    const settings = readAuthSettings(env);
    const { tenant, grant, only } = await attachRight(request, settings);
    if (dialect === undefined) {
      const message = `none of the subprotocols offered is spoken here; ${OUTER_PROTOCOL} is`;
      return refuseHttp({ code: CLOSE.badRequest, error: "bad_request", message });
    }
    const parsed = parseAttachQuery(completeQuery(new URL(request.url).searchParams, only));
    if (!parsed.ok) {
      return refuseUpgrade(dialect, { code: CLOSE.badRequest, error: "bad_request", message: parsed.detail });
    }
    const { query } = parsed;
    const session = query.session ?? crypto.randomUUID().replaceAll("-", "").slice(0, 20);
    const stub = env.SESSION.getByName(await sessionKey(tenant, query.sandbox, session));
    return await stub.fetch(
      requestOf({
        sandboxKey: await sandboxKey(tenant, query.sandbox),
        session,
        dialect,
        query,
        who: grant,
      }),
    );
  } catch (error) {
    if (!(error instanceof AuthFault)) throw error;
    // A page can't see an HTTP refusal. One whose host or origin is wrong is told nothing that way: it is no client of ours.
    const isOurs = error.code !== "bad_host" && error.code !== "bad_origin";
    if (dialect === "stdio" && isOurs) {
      return refuseUpgrade(dialect, { code: 4000 + error.status, error: error.code, message: error.message });
    }
    return authRefusal(error);
  }
}

/** `stdio.v1` where it is offered; nothing offered beside a token: plain; else undefined. */
function dialectOf(request: Request): DialectName | undefined {
  const offered = request.headers.has("Sec-WebSocket-Protocol") ? offeredProtocols(request) : [];
  if (offered.includes(OUTER_PROTOCOL)) return "stdio";
  return offered.length === 0 ? "plain" : undefined;
}
