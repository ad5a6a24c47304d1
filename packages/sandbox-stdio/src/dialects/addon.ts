// `SandboxAddon` of `@cloudflare/sandbox/xterm`: bytes both ways, JSON `ready`, `error` and `exit`; the client sends `resize`.

import type { AttachWish, Dialect, DialectRoute, Encoded, RouteRequest, SessionEvent } from "../server/dialect.ts";
import { CLOSE } from "../wire/constants.ts";
import { decodeBytesAndJson, decodeTyped, hasType, tellBytesAndJson } from "./bytes-and-json.ts";
import { terminalQuery } from "./terminal-query.ts";

/** Whether the process has ended. Then the client gets no `ready`, after which it would reconnect forever. */
type AddonState = { readonly hasExited: boolean };

/** Resets the terminal before a replay. The addon's own clearing on reconnection keeps the cursor's line and all modes. */
const RESET = Uint8Array.of(0x1b, 0x63);

function encode(event: SessionEvent, state: AddonState): Encoded<AddonState> {
  switch (event.type) {
    case "found":
      return { frames: [], state: { hasExited: event.hasExited } };
    case "hello":
      return { frames: event.live > event.offset ? [RESET] : [], state };
    case "live":
      return { frames: state.hasExited ? [] : tellBytesAndJson(event), state };
    default:
      return { frames: tellBytesAndJson(event), state };
  }
}

export const ADDON: Dialect<AddonState> = {
  name: "addon",
  acknowledges: false,
  canResume: false,
  start: { hasExited: false },
  encode,
  decode: (frame) =>
    // xterm.js's AttachAddon sends typed text only.
    typeof frame === "string" && !hasType(frame) ? decodeTyped(frame) : decodeBytesAndJson(frame, ["resize"]),
};

function wish({ search }: RouteRequest): AttachWish {
  const id = search.get("id");
  if (id === null)
    return { ok: false, code: CLOSE.badRequest, error: "bad_request", detail: '"id" must name a sandbox' };
  return terminalQuery({ sandbox: id, session: search.get("session") || "main", tty: "1" }, search);
}

export const ADDON_ROUTES: readonly DialectRoute[] = [
  { path: "/ws/terminal", dialect: ADDON, refusal: "status", isTransient: true, wish },
];
