// Whether the process is held back: by the pacing client, or, if no client is here, by output that must stay to be
// read.

import type { OutputLog } from "../output/output-log.ts";
import { findFlowLeader, isWindowSpent } from "../output/pacing.ts";
import { LOG_BYTES } from "../wire/constants.ts";
import type { Delivery } from "../wire/terms.ts";
import { Backpressure, type Pressure } from "./backpressure.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";

/** Between two looks at whether to hold a process, a frame of each of its streams may still be read. Twice that is kept free. */
const HOLD_MARGIN_FRAMES = 4;

export class Pace {
  readonly #log: OutputLog;
  readonly #keyboard: Keyboard;
  readonly #clients: Clients;
  readonly #delivery: Delivery;
  readonly #isAwaited: boolean;
  readonly #backpressure: Backpressure;
  readonly #now: () => number;
  /** If no client is attached, a lossless session keeps everything from this offset on. */
  #heldFrom: number;

  /**
   * @param delivery Whether the process is held if no client is attached.
   * @param isAwaited Whether the process waits for its first client, as far as the log has room.
   */
  constructor(
    log: OutputLog,
    keyboard: Keyboard,
    clients: Clients,
    { delivery, now, isAwaited = true }: { delivery: Delivery; now: () => number; isAwaited?: boolean | undefined },
  ) {
    this.#backpressure = new Backpressure(log, clients);
    this.#now = now;
    this.#log = log;
    this.#keyboard = keyboard;
    this.#clients = clients;
    this.#delivery = delivery;
    this.#isAwaited = isAwaited;
    this.#heldFrom = log.endOffset;
  }

  /** The client whose unacknowledged bytes hold the process back. */
  get flowLeader(): ClientRecord | undefined {
    return findFlowLeader(this.#clients.all, this.#keyboard.holder, this.#delivery);
  }

  /** Whether the process waits for a client, here or still to come. A live session does not wait if only viewers are here. */
  get isPaced(): boolean {
    return this.#delivery === "lossless" || this.#clients.isUnused || this.flowLeader !== undefined;
  }

  /** Updates who is behind, as of now. @returns The flow leader. */
  update(): ClientRecord | undefined {
    const { flowLeader } = this;
    this.#backpressure.update(flowLeader, this.#now());
    return flowLeader;
  }

  /** Whether the process is read ahead less, or waits, for other clients than the pacing one: as of the last {@link update}. */
  get pressure(): Pressure {
    return this.#backpressure.pressure;
  }

  /** When {@link update} is due at the latest, because a wait ends. */
  get nextMs(): number | undefined {
    return this.#backpressure.nextMs;
  }

  /** The place and window of a client as they count for the pace: less than they are while others are about to be skipped. */
  effective(client: ClientRecord): { readonly offset: number; readonly window: number } {
    const { acked, windowBytes } = client;
    const { pressure, stopsAt } = this.#backpressure;
    if (pressure === "none") return { offset: acked, window: windowBytes };
    const window = Math.min(windowBytes, client.linkBytes);
    if (pressure === "throttled") return { offset: acked, window };
    const { frameBytes } = this.#log;
    const offset = Math.max(0, Math.min(acked, stopsAt - frameBytes));
    return { offset, window: Math.max(0, Math.min(window, stopsAt - frameBytes - offset)) };
  }

  /** @see ProcessSession.shouldHold */
  get shouldHold(): boolean {
    const flowLeader = this.update();
    if (flowLeader !== undefined) {
      const { offset: acked, window } = this.effective(flowLeader);
      const windowBytes = Math.min(window, this.#log.windowBytes);
      return isWindowSpent({ acked, windowBytes }, this.#log.endOffset, this.#log.frameBytes);
    }
    // A live session runs on if only viewers are here, but not before its creator has come: the creator is on the way.
    if (this.#delivery === "live" && !(this.#isAwaited && this.#clients.isUnused)) return false;
    // What waits must fit into the session object's log, too.
    const room = Math.min(this.#log.capacityBytes, LOG_BYTES) - HOLD_MARGIN_FRAMES * this.#log.frameBytes;
    return this.#log.endOffset - this.#heldFrom >= room;
  }

  /**
   * The client is about to go. If the last one goes, output that was not dealt with stays to be read, also for clients whose
   * grace passed before.
   */
  noteHeld(client: ClientRecord): void {
    if (client.isProgram) return;
    let from = client.acked;
    for (const other of this.#clients.all) {
      if (other === client || other.isProgram) continue;
      if (other.isPresent) return;
      const wasKept = other.delivery === "lossless" && other.role === "driver";
      if (wasKept && other.acked >= this.#log.startOffset) from = Math.min(from, other.acked);
    }
    this.#heldFrom = Math.max(this.#log.startOffset, from);
  }
}
