// Which acknowledgements of its clients the session object passes on to the bridge. Each message costs it more than its bytes:
// those that set the pace go in steps, the others now and then.

import type { ClientRecord } from "../session/client-record.ts";
import { MAX_FRAME_BYTES } from "../wire/constants.ts";
import type { InnerCommand } from "../wire/inner-messages.ts";

/** Well under the bytes that a pacing client may have in flight. */
const PACE_ACK_BYTES = 2 * MAX_FRAME_BYTES;
/** Of clients that decide nothing. */
const LAZY_ACK_BYTES = 4 * MAX_FRAME_BYTES;

export interface RelayedAcksPorts {
  pacer(): ClientRecord | undefined;
  say(command: InnerCommand): void;
}

export class RelayedAcks {
  readonly #ports: RelayedAcksPorts;
  /** The offset and window that were last said of each client. */
  readonly #said = new Map<string, { offset: number; window: number }>();
  /** The pacing client when {@link relayPacer} last looked. */
  #pacing: string | undefined;

  constructor(ports: RelayedAcksPorts) {
    this.#ports = ports;
  }

  /** A new connection: nothing has been said on it. */
  clear(): void {
    this.#said.clear();
  }

  /** The bridge is told of the client, and with it of its place. */
  begin(client: ClientRecord): void {
    this.#said.set(client.id, { offset: client.acked, window: client.windowBytes });
  }

  forget(clientId: string): void {
    this.#said.delete(clientId);
  }

  /** The client has dealt with more output, or its window has changed: says so if it matters. */
  relay(client: ClientRecord): void {
    const last = this.#said.get(client.id);
    const pacer = this.#ports.pacer();
    // The slowest lossless driver paces, and which one that is the bridge can tell only if it knows of all.
    const mayPace = client === pacer || (client.delivery === "lossless" && client.role === "driver");
    const step = mayPace ? Math.min(PACE_ACK_BYTES, client.windowBytes / 4) : LAZY_ACK_BYTES;
    if (last === undefined || client.acked - last.offset >= step) this.#say(client);
    if (client !== pacer || pacer.id !== this.#pacing) this.relayPacer();
  }

  /**
   * The pacing client may have changed just now. The bridge must know where the new one stands, or it waits for the one
   * before, and holds the process for ever.
   */
  relayPacer(): void {
    const pacer = this.#ports.pacer();
    this.#pacing = pacer?.id;
    if (pacer === undefined) return;
    const said = this.#said.get(pacer.id);
    if (said?.offset !== pacer.acked || said.window !== pacer.windowBytes) this.#say(pacer);
  }

  #say(client: ClientRecord): void {
    this.begin(client);
    this.#ports.say({ type: "ack", client: client.id, offset: client.acked, window: client.windowBytes });
  }
}
