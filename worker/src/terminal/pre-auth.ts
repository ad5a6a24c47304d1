// Pre-authentication of ttyd clients whose upgrade had no credential: the first message may hold a token (D2a). Nothing is started
// before; time, bytes, and clients of one address are limited.

import { CLOSE } from "sandbox-stdio/core";
import { ADDRESS_FULL, addressOf } from "../attach/entry-limits.ts";
import { logRefused } from "../audit/worker-log.ts";
import { addressKey } from "../limits/address-key.ts";
import type { AddressesEnv } from "../limits/limit-calls.ts";
import { AuthFault } from "../refusal/fault.ts";
import { type Answering, type Refusal, refuseUpgrade, sayBye, upgradeHeaders } from "../refusal/refusal.ts";
import { TtydRelay } from "./relay.ts";
import { length, type Message, readFirstMessage } from "./ttyd-token.ts";

/** ttyd's clients speak as soon as they are connected. */
const PATIENCE_MS = 5_000;
/** Most bytes accepted before the client is attached: its first message, and typed input. */
const MAX_EARLY_BYTES = 64 * 1024;
/** Stands for the session in the address's count of connections. No session has this key, so a leftover is released. */
const NO_SESSION = "lobby";

export type PreAuth = {
  readonly env: AddressesEnv;
  readonly request: Request;
  readonly client: Answering;
  /** Attaches as if the upgrade had brought this token. */
  readonly attach: (token: string) => Promise<Response>;
  readonly waitUntil: (promise: Promise<void>) => void;
};

/** Accepts the upgrade, and attaches the client once it has sent a token. */
export async function attachOnceAuthenticated(upgrade: PreAuth): Promise<Response> {
  const { env, request, client, waitUntil } = upgrade;
  const places = env.ADDRESS.getByName(addressKey(addressOf(request)));
  const id = crypto.randomUUID();
  if (!(await places.take({ id, sessionKey: NO_SESSION, kind: "unknown" }))) return refuseUpgrade(client, ADDRESS_FULL);
  const pair = new WebSocketPair();
  const guest = new Guest(pair[1]);
  waitUntil(serve(upgrade, guest, async () => places.giveBack(id)));
  return new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(client) });
}

async function serve({ request, client, attach }: PreAuth, guest: Guest, leave: () => Promise<void>): Promise<void> {
  try {
    const first = await guest.firstMessage();
    const begin = first === undefined ? undefined : readFirstMessage(first);
    if (begin === undefined) throw new AuthFault("no_token", "Log in, or give a token");
    await leave(); // The attach counts it from here on.
    const { webSocket } = await attach(begin.token);
    if (webSocket === null) throw new AuthFault("bad_origin", "This client can't be attached");
    guest.passTo(webSocket, begin.withoutToken);
  } catch (error) {
    await leave();
    const fault = error instanceof AuthFault ? error : undefined;
    if (fault === undefined) console.error("a client without a credential could not be attached:", error);
    else logRefused(request, fault);
    guest.refuse(client.dialect, {
      code: fault === undefined ? CLOSE.internal : CLOSE.unauthenticated,
      error: fault?.code ?? "internal",
      message: fault?.message ?? "something went wrong here",
    });
  }
}

/** A client's connection that belongs to no session yet. */
class Guest {
  readonly #socket: WebSocket;
  readonly #early: Message[] = [];
  #earlyBytes = 0;
  #hasEnded = false;
  readonly #leaving = new AbortController();
  #wake: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    const { signal } = this.#leaving;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#hear(data as Message), { signal });
    socket.addEventListener("close", () => this.#end(), { signal });
    socket.addEventListener("error", () => this.#end(), { signal });
    socket.accept();
  }

  /** @returns undefined if none arrives in time. */
  async firstMessage(): Promise<Message | undefined> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    return this.#early.shift();
  }

  refuse(dialect: string, refusal: Refusal): void {
    if (!this.#hasEnded) sayBye(this.#socket, dialect, refusal);
    this.#end();
  }

  /** @param begin Replaces the client's first message. */
  passTo(socket: WebSocket, begin: Message): void {
    socket.binaryType = "arraybuffer";
    if (this.#hasEnded) {
      socket.accept();
      socket.close(CLOSE.goingAway);
      return;
    }
    this.#leaving.abort();
    const events = { input: () => undefined, ended: () => undefined, isTtydThere: async () => true };
    new TtydRelay(this.#socket, socket, events, [begin, ...this.#early]);
  }

  #hear(message: Message): void {
    this.#earlyBytes += length(message);
    if (this.#earlyBytes <= MAX_EARLY_BYTES) this.#early.push(message);
    else {
      this.#socket.close(CLOSE.policy, "too much came before the session was ready");
      this.#end();
    }
    this.#wake();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#leaving.abort();
    this.#wake();
    try {
      this.#socket.close();
    } catch {
      // This side has closed the socket.
    }
  }
}
