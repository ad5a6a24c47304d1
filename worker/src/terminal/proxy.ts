// The clients of the ttyds that run in one sandbox's container: lets each in, and knows who is there.

import { CLOSE, MAX_CLIENTS } from "@sbx/sandbox-stdio";
import type { AttachSpec } from "../attach-spec.ts";
import type { Env } from "../env.ts";
import { refuseUpgrade, upgradeHeaders } from "../refusal.ts";
import { NOT_RUNNING, TtydRelay } from "./relay.ts";
import { readTerminalSettings } from "./settings.ts";
import { ttydAddress } from "./ttyd-address.ts";
import { askTtyd, openTtyd } from "./upstream.ts";

/** A timer can't be set for longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class TtydProxy {
  readonly #env: Env;
  readonly #relays = new Set<TtydRelay>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** @throws {AuthFault} `misconfigured`. */
  async attach(spec: AttachSpec): Promise<Response> {
    const { ttyd } = readTerminalSettings(this.#env);
    if (ttyd === undefined) throw new Error("Cannot attach to a ttyd: TERMINAL_UPSTREAM names none");
    if (this.#relays.size >= MAX_CLIENTS) {
      return refuseUpgrade(spec, { code: CLOSE.tryLater, error: "full", message: "the terminal is full" });
    }
    const address = ttydAddress(ttyd, spec.sandboxKey);
    const socket = await openTtyd(this.#env, address);
    if (socket === undefined) {
      return refuseUpgrade(spec, { code: NOT_RUNNING.code, error: "not_running", message: NOT_RUNNING.reason });
    }
    const pair = new WebSocketPair();
    const expiry = setTimeout(
      () => relay.close(CLOSE.unauthenticated, "Unauthorized"),
      Math.min(spec.who.expiresAtMs - Date.now(), MAX_TIMER_MS),
    );
    const relay = new TtydRelay(pair[1], socket, {
      input: () => undefined,
      ended: () => {
        clearTimeout(expiry);
        this.#relays.delete(relay);
      },
      isTtydThere: async () => (await askTtyd(this.#env, address, "/token")) !== undefined,
    });
    this.#relays.add(relay);
    return new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(spec) });
  }
}
