// Ends a container whose bridge hangs: it takes connections, and answers nothing. Suspected when a request has run out of
// time; certain when several questions in a row have.

import { log } from "../base/log.ts";
import { type LifeEnv, noteLife } from "../refusal/life.ts";
import { isNotListening } from "./container-end.ts";
import { BRIDGE_PORT } from "./containers.ts";

const PROBES = 3;
const PROBE_PATIENCE_MS = 5_000;
const PAUSE_MS = 2_000;

/** @throws {unknown} If the bridge does not answer in time. */
export async function probeBridge(container: Container): Promise<void> {
  const signal = AbortSignal.timeout(PROBE_PATIENCE_MS);
  const response = await container.getTcpPort(BRIDGE_PORT).fetch("http://bridge/healthz", { signal });
  await response.body?.cancel();
}

export class HangWatch {
  readonly #state: DurableObjectState;
  readonly #env: LifeEnv;
  #round: Promise<void> | undefined;

  constructor(state: DurableObjectState, env: LifeEnv) {
    this.#state = state;
    this.#env = env;
  }

  /** Looks into it, unless that is under way. */
  suspect(): void {
    this.#round ??= this.#look().finally(() => {
      this.#round = undefined;
    });
    this.#state.waitUntil(this.#round);
  }

  async #look(): Promise<void> {
    const { id, container } = this.#state;
    for (let probe = 0; probe < PROBES; probe += 1) {
      if (probe > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (container?.running !== true) return;
      try {
        return await probeBridge(container);
      } catch (error) {
        // The bridge takes no connections: it is still starting, or has ended by itself.
        if (isNotListening(error)) return;
        log.warn(`the bridge in container ${id} does not answer:`, error);
      }
    }
    noteLife(this.#env, "container.hung", { sandbox: id.name ?? String(id) });
    await container?.destroy();
  }
}
