// The Worker as a client of a session: attached like any other, by the right of the caller that it works for. Its WebSockets lead to
// the session's object and not over a network.

import type { WebSocketConstructor, WebSocketLike } from "sandbox-stdio/client";
import { OUTER_PROTOCOL, parseAttachQuery } from "sandbox-stdio/core";
import { requestOf } from "../attach/attach-spec.ts";
import { type EntryEnv, type Pass, pass } from "../attach/entry-limits.ts";
import type { Authorized } from "../programs/authorized.ts";
import type { Refusal } from "../refusal/refusal.ts";

export type SessionPlace = {
  readonly session: string;
  readonly sessionKey: string;
  /** The one process that is meant. */
  readonly incarnation: string;
};

/**
 * @param request The caller's.
 * @param first The caller's place at its address, for the first connection. Later ones take one each.
 */
export function socketsTo(
  env: EntryEnv,
  request: Request,
  who: Authorized,
  place: SessionPlace,
  first: Pass,
): WebSocketConstructor {
  let ours: Pass | undefined = first;
  const open = async (search: URLSearchParams): Promise<Response | Refusal> => {
    search.set("incarnation", place.incarnation);
    const parsed = parseAttachQuery(search);
    if (!parsed.ok) throw new TypeError(`Cannot attach: ${parsed.detail}`);
    const { query } = parsed;
    const { identity, project } = who;
    const right = { tenant: identity, grant: who.who, asker: { tenant: identity, asked: { user: project.user } } };
    const asked = { ...place, sandboxKey: project.sandboxKey, sandbox: project.sandbox, kind: "other" } as const;
    const passed =
      ours ?? (await pass(env, request, right, { ...asked, resume: query.resume }, { user: project.user }));
    ours = undefined;
    if ("code" in passed) return passed;
    return env.SESSION.getByName(place.sessionKey).fetch(
      requestOf({
        dialect: "stdio",
        subprotocol: OUTER_PROTOCOL,
        refusal: "close",
        sandboxKey: project.sandboxKey,
        session: place.session,
        query,
        isTransient: false,
        who: who.who,
        actor: who.actor,
        pass: "pass" in passed ? passed.pass : passed,
      }),
    );
  };
  return class extends SessionSocket {
    constructor(url: string) {
      super(open(new URL(url).searchParams));
    }
  };
}

type Listener<T> = ((event: T) => void) | null;

/** As the client wants a WebSocket: open at once, or as soon as the object has answered. */
class SessionSocket implements WebSocketLike {
  binaryType = "arraybuffer";
  onopen: Listener<object> = null;
  onmessage: Listener<{ readonly data: unknown }> = null;
  onerror: Listener<object> = null;
  onclose: Listener<{ readonly code: number; readonly reason: string }> = null;
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(opened: Promise<Response | Refusal>) {
    opened.then(
      (answer) => this.#opened(answer),
      (error: unknown) => this.#closed(1006, String(error)),
    );
  }

  send(message: string | Uint8Array): void {
    this.#socket?.send(message);
  }

  close(code?: number): void {
    this.#isClosed = true;
    // Without a code the client has not left: it may come back.
    if (code === undefined) this.#socket?.close();
    else this.#socket?.close(code);
  }

  #opened(answer: Response | Refusal): void {
    if ("message" in answer) {
      this.#closed(answer.code, answer.message);
      return;
    }
    const { webSocket: socket, status } = answer;
    if (socket === null) {
      this.#closed(1006, `the session's object answered with ${status}`);
      return;
    }
    socket.accept();
    this.#socket = socket;
    if (this.#isClosed) {
      socket.close();
      return;
    }
    socket.addEventListener("message", ({ data }) => this.onmessage?.({ data }));
    socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
    socket.addEventListener("error", () => this.#closed(1006, "the connection to the session broke"));
    this.onopen?.({});
  }

  #closed(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.({ code, reason });
  }
}
