// The project's two dialects at `/attach`: `stdio.v1`, and the seed's plain one, which has the same frames but ignores
// acknowledgements and most messages.

import type { AttachWish, Dialect, DialectRoute, Encoded, RouteRequest, SessionEvent } from "../server/dialect.ts";
import { parseAttachQuery } from "../wire/attach-query.ts";
import { CLOSE, MAX_STDIN_FRAME_BYTES, OUTER_PROTOCOL } from "../wire/constants.ts";
import { CLIENT_MESSAGES } from "../wire/control.ts";
import { decodeBytesAndJson, decodeStdin, decodeTyped } from "./bytes-and-json.ts";

const NOTHING: Encoded<undefined> = { frames: [], state: undefined };

/** Default wait of a client that is told to retry later. */
const RETRY_SECONDS = 1;

function encode(event: SessionEvent): Encoded<undefined> {
  if (event.type === "output") return { frames: [event.frame], state: undefined };
  if (event.type === "found" || event.type === "live" || event.type === "greeted") return NOTHING;
  const isWithoutTime = event.type === "bye" && event.retry === "after" && event.seconds === undefined;
  return { frames: [JSON.stringify(isWithoutTime ? { ...event, seconds: RETRY_SECONDS } : event)], state: undefined };
}

export const STDIO: Dialect<undefined> = {
  name: "stdio",
  acknowledges: true,
  canResume: true,
  start: undefined,
  encode,
  decode: (frame) => decodeBytesAndJson(frame, CLIENT_MESSAGES, MAX_STDIN_FRAME_BYTES),
};

export const PLAIN: Dialect<undefined> = {
  name: "plain",
  acknowledges: false,
  canResume: true,
  // The seed's `Terminal.tsx` decodes each frame by itself.
  readsFrameByFrame: true,
  start: undefined,
  encode: (event) => (event.type === "bye" ? NOTHING : encode(event)),
  decode: (frame) => decodeBytesAndJson(frame, CLIENT_MESSAGES),
};

/** For terminals that send typed text only: `wscat`, xterm.js's AttachAddon. */
export const PLAIN_TEXT: Dialect<undefined> = {
  ...PLAIN,
  name: "plain-text",
  decode: (frame) => (typeof frame === "string" ? decodeTyped(frame) : decodeStdin(frame)),
};

function wish({ search }: RouteRequest): AttachWish {
  const parsed = parseAttachQuery(search);
  return parsed.ok ? parsed : { ...parsed, code: CLOSE.badRequest, error: "bad_request" };
}

function plainWish(request: RouteRequest): AttachWish {
  const parsed = wish(request);
  return parsed.ok && request.search.get("text") === "1" ? { ...parsed, dialect: PLAIN_TEXT } : parsed;
}

export const STDIO_ROUTES: readonly DialectRoute[] = [
  {
    path: "/attach",
    dialect: STDIO,
    subprotocol: { name: OUTER_PROTOCOL, isRequired: true },
    refusal: "close",
    wish,
  },
  { path: "/attach", dialect: PLAIN, refusal: "status", wish: plainWish },
];
