// `SandboxAddon` of `@cloudflare/sandbox/xterm`: bytes both ways, and JSON `ready`, `error`, `exit`; it says `resize`.

import { CLOSE } from "../constants.ts";
import type { AttachWish, Dialect, DialectRoute, Encoded, Frame, RouteRequest, SessionEvent } from "../dialect.ts";
import { decodeBytesAndJson } from "./bytes-and-json.ts";
import { terminalQuery } from "./terminal-query.ts";

type AddonState = {
  /** It is told nothing of being ready where the process has ended: `ready` makes it come back for ever. */
  readonly hasExited: boolean;
  /** Bytes of replay that are still to come before `ready`; undefined once that has been said, or never will be. */
  readonly replayLeft: number | undefined;
};

/**
 * Resets the terminal before a replay. The addon only clears its own before it comes back, which leaves the line that the
 * cursor is in, and every mode.
 */
const RESET = Uint8Array.of(0x1b, 0x63);
const READY = '{"type":"ready"}';

function encode(event: SessionEvent, state: AddonState): Encoded<AddonState> {
  switch (event.type) {
    case "found":
      return { frames: [], state: { ...state, hasExited: event.hasExited } };
    case "hello": {
      const replay = event.live - event.offset;
      const isReady = replay <= 0 && !state.hasExited;
      const frames = [...(replay > 0 ? [RESET] : []), ...(isReady ? [READY] : [])];
      return { frames, state: { ...state, replayLeft: isReady || state.hasExited ? undefined : replay } };
    }
    case "output": {
      const bytes = event.frame.subarray(1);
      return state.replayLeft === undefined
        ? { frames: [bytes], state }
        : readyAfter([bytes], state, state.replayLeft - bytes.length);
    }
    case "gap":
      return state.replayLeft === undefined
        ? { frames: [], state }
        : readyAfter([], state, state.replayLeft - (event.to - event.from));
    case "exit": {
      const { code, signal } = event;
      return { frames: [JSON.stringify({ type: "exit", code, signal })], state };
    }
    case "error":
      return { frames: [JSON.stringify({ type: "error", message: event.message })], state };
    case "bye":
      return { frames: [JSON.stringify({ type: "error", message: event.reason })], state };
    default:
      return { frames: [], state };
  }
}

function readyAfter(frames: readonly Frame[], state: AddonState, replayLeft: number): Encoded<AddonState> {
  if (replayLeft > 0) return { frames, state: { ...state, replayLeft } };
  return { frames: [...frames, READY], state: { ...state, replayLeft: undefined } };
}

export const ADDON: Dialect<AddonState> = {
  name: "addon",
  acknowledges: false,
  canResume: false,
  start: { hasExited: false, replayLeft: undefined },
  encode,
  decode: (frame) => decodeBytesAndJson(frame, ["resize"]),
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
