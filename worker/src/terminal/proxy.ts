// The clients of the ttyds that run in one sandbox's container: lets each in, and knows who is there.

import { CLOSE, MAX_CLIENTS } from "@sbx/sandbox-stdio";
import type { AttachSpec } from "../attach-spec.ts";
import type { Env } from "../env.ts";
import type { Bounded } from "../lifetimes.ts";
import { refuseUpgrade, upgradeHeaders } from "../refusal.ts";
import { NOT_RUNNING, TtydRelay } from "./relay.ts";
import { readTerminalSettings } from "./settings.ts";
import { ttydAddress } from "./ttyd-address.ts";
import { askTtyd, openTtyd } from "./upstream.ts";

export class TtydProxy {
  readonly #env: Env;
  readonly #relays = new Set<TtydRelay>();

  constructor(env: Env) {
    this.#env = env;
  }

  /**
   * @param begun Told of a connection that was made; `ended` of its end, whoever ended it.
   * @throws {AuthFault} `misconfigured`.
   */
  async attach(
    spec: AttachSpec,
    begun: (connection: Bounded) => void,
    ended: (connection: Bounded) => void,
  ): Promise<Response> {
    const relays = this.#relays;
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
    const relay = new TtydRelay(pair[1], socket, {
      input: () => undefined,
      ended: () => {
        this.#relays.delete(relay);
        ended(connection);
      },
      isTtydThere: async () => (await askTtyd(this.#env, address, "/token")) !== undefined,
    });
    this.#relays.add(relay);
    const connection: Bounded = {
      get isEnded() {
        return !relays.has(relay);
      },
      dismiss: (code) => relay.close(code, "Unauthorized"),
    };
    begun(connection);
    return new Response(null, { status: 101, webSocket: pair[0], headers: upgradeHeaders(spec) });
  }
}
