// Orders about panes on their way to the bridge, which answers none that it carries out: a ping behind each tells that it has come.
// What is lost with the hop is told to whoever said it (B8).

import type { ClientRecord } from "../session/client-record.ts";
import type { InnerCommand } from "../wire/inner-messages.ts";
import { PANE_LOST, type PaneOrder } from "../wire/pane-messages.ts";

/** A bridge that answers no ping is taken for gone long before. */
const MAX_UNDERWAY = 4_096;

export class OrdersUnderway {
  readonly #say: (command: InnerCommand) => void;
  /** In the order in which they were said; undefined: a ping. */
  #said: (ClientRecord | undefined)[] = [];

  constructor(say: (command: InnerCommand) => void) {
    this.#say = say;
  }

  order(client: ClientRecord, order: PaneOrder): void {
    this.#say({ type: "pane", client: client.id, order: JSON.stringify(order) });
    this.#note(client);
    this.ping();
  }

  ping(): void {
    this.#say({ type: "ping" });
    this.#note(undefined);
  }

  /** What was said before the oldest ping has come. */
  pong(): void {
    this.#said.splice(0, this.#said.indexOf(undefined) + 1);
  }

  /** The hop has broken. */
  lost(): void {
    for (const client of this.#said.splice(0)) client?.tell(PANE_LOST);
  }

  #note(one: ClientRecord | undefined): void {
    this.#said.push(one);
    if (this.#said.length > MAX_UNDERWAY) this.#said.shift();
  }
}
