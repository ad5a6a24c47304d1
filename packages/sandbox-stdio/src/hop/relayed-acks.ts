// Which acknowledgements of its clients the session object passes on to the bridge. Each message costs it more than its bytes:
// those that set the pace go in steps, the others now and then.

import type { ClientRecord } from "../session/client-record.ts";
import type { Pace } from "../session/pace.ts";
import type { Pressure } from "../session/patience.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { InnerCommand } from "../wire/inner-messages.ts";

/** Well under the bytes that a pacing client may have in flight. */
const PACE_ACK_BYTES = 2 * MAX_FRAME_BYTES;
/** Of clients that decide nothing. */
const LAZY_ACK_BYTES = 4 * MAX_FRAME_BYTES;

export interface RelayedAcksPorts {
  /** The session's, once there is one. */
  pace(): Pick<Pace, "look" | "pressure" | "told"> | undefined;
  say(command: InnerCommand): void;
}

export class RelayedAcks {
  readonly #ports: RelayedAcksPorts;
  /** The offset and window that were last said of each client. */
  readonly #said = new Map<string, { offset: number; window: number }>();
  /**
   * Lossless drivers of whom less was said than is so, for the sake of others (W9a). The slowest of what was said paces: each must
   * be said anew when that is over, or the bridge waits for one that has nothing left to acknowledge.
   */
  readonly #reduced = new Map<string, ClientRecord>();
  /** The pacing client, and the pressure, when {@link relayPacer} last looked. */
  #pacing: string | undefined;
  #pressure: Pressure = "none";

  constructor(ports: RelayedAcksPorts) {
    this.#ports = ports;
  }

  /** A new connection: nothing has been said on it. */
  clear(): void {
    this.#said.clear();
    this.#reduced.clear();
    this.#pressure = "none";
  }

  /** The bridge is told of the client, and with it of its place. */
  begin(client: ClientRecord): void {
    this.#note(client, { offset: client.acked, window: client.windowBytes });
  }

  forget(clientId: string): void {
    this.#said.delete(clientId);
    this.#reduced.delete(clientId);
  }

  /** The client has dealt with more output, or its window has changed: says so if it matters. */
  relay(client: ClientRecord): void {
    const pace = this.#ports.pace();
    if (pace === undefined) return;
    const pacer = pace.look();
    const last = this.#said.get(client.id);
    const { offset, window } = pace.told(client);
    // The slowest lossless driver paces, and which one that is the bridge can tell only if it knows of all.
    const mayPace = client === pacer || isLosslessDriver(client);
    // The bridge counts with the window that it knows.
    const step = mayPace ? Math.min(PACE_ACK_BYTES, window / 4, (last?.window ?? window) / 4) : LAZY_ACK_BYTES;
    if (last === undefined || offset - last.offset >= Math.max(1, step)) this.#say(client);
    if (client !== pacer || pacer.id !== this.#pacing || pace.pressure !== this.#pressure) this.relayPacer();
  }

  /** Output has come, and other clients may be further behind now: says so if less of it is to be read ahead. */
  outputCame(): void {
    const pace = this.#ports.pace();
    pace?.look();
    if (pace !== undefined && pace.pressure !== this.#pressure) this.relayPacer();
  }

  /**
   * The pacing client may have changed just now. The bridge must know where the new one stands, or it waits for the one
   * before, and holds the process for ever.
   */
  relayPacer(): void {
    const pace = this.#ports.pace();
    const pacer = pace?.look();
    this.#pacing = pacer?.id;
    this.#pressure = pace?.pressure ?? "none";
    if (pace === undefined || pacer === undefined) return;
    for (const client of new Set([pacer, ...this.#reduced.values()])) {
      const said = this.#said.get(client.id);
      const told = pace.told(client);
      if (said?.offset !== told.offset || said.window !== told.window) this.#say(client);
    }
  }

  #say(client: ClientRecord): void {
    const place = this.#ports.pace()?.told(client) ?? { offset: client.acked, window: client.windowBytes };
    this.#note(client, place);
    this.#ports.say({ type: "ack", client: client.id, ...place });
  }

  #note(client: ClientRecord, { offset, window }: { readonly offset: number; readonly window: number }): void {
    this.#said.set(client.id, { offset, window });
    const isReduced = offset < client.acked || window < client.windowBytes;
    if (isReduced && isLosslessDriver(client)) this.#reduced.set(client.id, client);
    else this.#reduced.delete(client.id);
  }
}

function isLosslessDriver({ delivery, role }: ClientRecord): boolean {
  return delivery === "lossless" && role === "driver";
}
