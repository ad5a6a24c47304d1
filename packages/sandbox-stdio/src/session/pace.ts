// Decides whether the process is held: by the flow leader, or, with no client attached, by unread output that must be kept.

import type { OutputLog } from "../output/output-log.ts";
import { findFlowLeader, isWindowSpent } from "../output/pacing.ts";
import { LOG_BYTES } from "../wire/constants.ts";
import type { Delivery } from "../wire/terms.ts";
import { Backpressure, type Pressure } from "./backpressure.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";

/** Between two checks a frame of each stream may still be read; twice that is kept free. */
const HOLD_MARGIN_FRAMES = 4;

export class Pace {
  readonly #log: OutputLog;
  readonly #keyboard: Keyboard;
  readonly #clients: Clients;
  readonly #delivery: Delivery;
  readonly #isAwaited: boolean;
  readonly #backpressure: Backpressure;
  readonly #now: () => number;
  /** Where the last client's acknowledgements ended. With none attached, a lossless session keeps everything from here on. */
  #heldFrom: number;

  /**
   * @param delivery Whether the process is held while no client is attached.
   * @param isAwaited Whether the process waits for its first client once the log is full.
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

  /** The client whose unacknowledged bytes hold the process. */
  get flowLeader(): ClientRecord | undefined {
    return findFlowLeader(this.#clients.all, this.#keyboard.holder, this.#delivery);
  }

  /** Whether the process waits for a client, attached or yet to come. A live session with viewers alone does not. */
  get isPaced(): boolean {
    return this.#delivery === "lossless" || this.#clients.isUnused || this.flowLeader !== undefined;
  }

  /** Recomputes which clients are behind. @returns The flow leader. */
  update(): ClientRecord | undefined {
    const { flowLeader } = this;
    this.#backpressure.update(flowLeader, this.#now());
    return flowLeader;
  }

  /** Whether clients other than the flow leader slow the process, as of the last {@link update}. */
  get pressure(): Pressure {
    return this.#backpressure.pressure;
  }

  /** Latest time of the next {@link update}, because a wait ends. */
  get nextMs(): number | undefined {
    return this.#backpressure.nextMs;
  }

  /** A client's offset and window as they count for the pace: less than the real ones while other clients would be skipped. */
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
    // A live session runs on with viewers alone, but not before its creator has attached.
    if (this.#delivery === "live" && !(this.#isAwaited && this.#clients.isUnused)) return false;
    // Waiting output must fit into the session object's log, too.
    const room = Math.min(this.#log.capacityBytes, LOG_BYTES) - HOLD_MARGIN_FRAMES * this.#log.frameBytes;
    return this.#log.endOffset - this.#heldFrom >= room;
  }

  /**
   * The client is about to go. If it is the last one, unprocessed output is kept, also for clients whose grace period passed
   * earlier.
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
