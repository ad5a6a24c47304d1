// The terminal of Cloudflare's bridge, `/v1/sandbox/ID/pty` (V5): bytes both ways, JSON `ready`, `exit` and `error`; the client
// sends `resize`. The current screen comes before `ready`.

import type { AttachWish, Dialect, DialectRoute, RouteRequest } from "../server/dialect.ts";
import { CLOSE } from "../wire/constants.ts";
import { decodeBytesAndJson, tellBytesAndJson } from "./bytes-and-json.ts";
import { terminalQuery } from "./terminal-query.ts";

export const SANDBOX_PTY: Dialect<undefined> = {
  name: "sandbox-pty",
  acknowledges: false,
  canResume: false,
  startsWithScreen: "ifLong",
  start: undefined,
  encode: (event) => ({ frames: tellBytesAndJson(event), state: undefined }),
  decode: (frame) => decodeBytesAndJson(frame, ["resize"]),
};

/** Ids of the sandbox API. */
const ID = /^[0-9a-f]{32}$/;

function wish({ params, search }: RouteRequest): AttachWish {
  const sandbox = params.sandbox ?? "";
  if (!ID.test(sandbox)) return { ok: false, code: CLOSE.notFound, error: "not_found", detail: "no such sandbox" };
  const session = search.get("session") ?? "";
  const place = session === "" ? { keep: "0" } : { session };
  const own = { sandbox, role: "driver", tty: "1", shell_integration: "0", ...place };
  const parsed = terminalQuery(own, search);
  const shell = search.get("shell") || undefined;
  return parsed.ok && shell !== undefined ? { ...parsed, command: [shell] } : parsed;
}

export const SANDBOX_PTY_ROUTES: readonly DialectRoute[] = [
  { path: "/v1/sandbox/:sandbox/pty", dialect: SANDBOX_PTY, refusal: "status", isTransient: true, wish },
];
