// PandaStack's pty: bytes both ways and JSON control. `/exec/pty` is a shell for one client; `/exec/pty/shared` is for many, of
// which one types.

import type {
  AttachWish,
  DecodedCommand,
  Dialect,
  DialectRoute,
  Encoded,
  Frame,
  RouteRequest,
  SessionEvent,
} from "../server/dialect.ts";
import type { ClientMessage, Participant } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import { decodeBytesAndJson } from "./bytes-and-json.ts";
import { terminalQuery } from "./terminal-query.ts";

/** An interactive login shell. */
const SHELL = ["bash", "-li"] as const;

function encoded(message: object): Encoded<undefined> {
  return { frames: [JSON.stringify(message)], state: undefined };
}

/** In this dialect every client holds the keyboard alone, so messages omit it; they never told whose window a client is. */
function inDialect({ alone: _alone, person: _person, ...participant }: Participant): Participant {
  return participant;
}

const NOTHING: Encoded<undefined> = { frames: [], state: undefined };

function encode(event: SessionEvent): Encoded<undefined> {
  switch (event.type) {
    case "output":
      return { frames: [event.frame.subarray(1)], state: undefined };
    case "exit":
      return encoded({ type: "exit", code: event.code });
    case "error":
      return encoded({ type: "error", message: event.message });
    default:
      return NOTHING;
  }
}

function encodeShared(event: SessionEvent): Encoded<undefined> {
  switch (event.type) {
    case "hello": {
      const { holder, rows, cols } = event;
      return encoded({
        type: "hello",
        you: inDialect(event.you),
        holder,
        participants: event.participants.map(inDialect),
        rows,
        cols,
      });
    }
    case "join":
      return encoded({ type: "join", participant: inDialect(event.participant) });
    case "leave":
    case "stdin_holder":
      return encoded(event);
    default:
      return encode(event);
  }
}

/** A resize without a size only keeps the client alive. */
function decode(frame: Frame, messages: readonly ClientMessage["type"][]): DecodedCommand {
  const resize = typeof frame === "string" ? readResize(frame) : undefined;
  if (resize === undefined) return decodeBytesAndJson(frame, messages);
  if (!resize.cols && !resize.rows) return { kind: "command", command: { type: "keep_alive" } };
  return decodeBytesAndJson(JSON.stringify({ type: "resize", cols: resize.cols, rows: resize.rows }), messages);
}

type Resize = { readonly cols?: unknown; readonly rows?: unknown };

/** PandaStack's dashboard sends another form than the documented one. */
function readResize(text: string): Resize | undefined {
  if (text.length > 128 || !text.includes("resize")) return undefined;
  try {
    const value = JSON.parse(text) as ({ type?: unknown; resize?: unknown } & Resize) | null;
    if (value?.type === "resize") return value;
    const isDashboards = value?.type === undefined && typeof value?.resize === "object" && value.resize !== null;
    return isDashboards ? (value.resize as Resize) : undefined;
  } catch {
    return undefined; // Not JSON: the next reader reports it.
  }
}

const FOREIGN = { acknowledges: false, canResume: false, start: undefined } as const;

export const PTY: Dialect<undefined> = {
  name: "pty",
  ...FOREIGN,
  encode,
  decode: (frame) => decode(frame, ["resize"]),
};

const SHARED_MESSAGES = ["resize", "request_stdin", "release_stdin", "grant_stdin", "force_take"] as const;

export const PTY_SHARED: Dialect<undefined> = {
  name: "pty-shared",
  ...FOREIGN,
  holdsAlone: true,
  encode: encodeShared,
  decode: (frame) => decode(frame, SHARED_MESSAGES),
};

function wish({ params, search }: RouteRequest, own: Readonly<Record<string, string>>): AttachWish {
  const line = search.get("cmd") ?? "";
  // A single command line, read by a shell.
  const command = line === "" ? {} : { cmd: "bash", arg: ["-lc", line] };
  const parsed = terminalQuery({ sandbox: params.id ?? "", tty: "1", keep: "0", ...own, ...command }, search);
  if (!parsed.ok) return parsed;
  const mayForce = search.get("resolve") === "1";
  return defined({ ...parsed, command: SHELL, line: line === "" ? undefined : line, mayForce });
}

const COMMON = {
  subprotocol: { name: "pds-pty", isRequired: false },
  refusal: "status",
  limits: "pty",
  isTransient: true,
} as const;

export const PTY_ROUTES: readonly DialectRoute[] = [
  { path: "/v1/sandboxes/:id/exec/pty", dialect: PTY, ...COMMON, wish: (request) => wish(request, {}) },
  {
    path: "/v1/sandboxes/:id/exec/pty/shared",
    dialect: PTY_SHARED,
    ...COMMON,
    wish: (request) => wish(request, { session: "main", mode: "exclusive" }),
  },
];
