// Whether the process is held back: by the pacing client, or, if no client is here, by output that must stay to be
// read.

import type { OutputLog } from "../output/output-log.ts";
import { isWindowSpent, pacingClient } from "../output/pacing.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { Delivery } from "../wire/terms.ts";
import type { ClientRecord } from "./client-record.ts";
import type { Clients } from "./clients.ts";
import type { Keyboard } from "./keyboard.ts";

/** Between two looks at whether to hold a process, a frame of each of its streams may still be read. Twice that is kept free. */
const HOLD_MARGIN_BYTES = 4 * MAX_FRAME_BYTES;

export class Pace {
  readonly #log: OutputLog;
  readonly #keyboard: Keyboard;
  readonly #clients: Clients;
  readonly #delivery: Delivery;
  readonly #isAwaited: boolean;
  /** If no client is attached, a lossless session keeps everything from this offset on. */
  #heldFrom: number;

  /**
   * @param delivery Whether the process is held if no client is attached.
   * @param isAwaited Whether the process waits for its first client, as far as the log has room.
   */
  constructor(log: OutputLog, keyboard: Keyboard, clients: Clients, delivery: Delivery, isAwaited = true) {
    this.#log = log;
    this.#keyboard = keyboard;
    this.#clients = clients;
    this.#delivery = delivery;
    this.#isAwaited = isAwaited;
    this.#heldFrom = log.endOffset;
  }

  /** The client whose unacknowledged bytes hold the process back. */
  get pacer(): ClientRecord | undefined {
    return pacingClient(this.#clients.all, this.#keyboard.holder, this.#delivery);
  }

  /** Whether the process waits for a client, here or still to come. A live session does not wait if only viewers are here. */
  get isPaced(): boolean {
    return this.#delivery === "lossless" || this.#clients.isUnused || this.pacer !== undefined;
  }

  /** @see ProcessSession.shouldHold */
  get shouldHold(): boolean {
    const { pacer } = this;
    if (pacer !== undefined) return isWindowSpent(pacer, this.#log.endOffset);
    // A live session runs on if only viewers are here, but not before its creator has come: the creator is on the way.
    if (this.#delivery === "live" && !(this.#isAwaited && this.#clients.isUnused)) return false;
    return this.#log.endOffset - this.#heldFrom >= this.#log.capacityBytes - HOLD_MARGIN_BYTES;
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
