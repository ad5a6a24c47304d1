// What is on its way to the bridge, and is not answered there: a ping behind each tells that it has come. Of orders about panes
// that are lost with the hop whoever said them is told (B8).

import type { ClientRecord } from "../session/client-record.ts";
import type { InnerCommand } from "../wire/inner-messages.ts";
import { PANE_LOST, type PaneOrder } from "../wire/pane-messages.ts";

/** Of more, the oldest orders are forgotten. A bridge that answers no ping is taken for gone long before. */
const MAX_UNDERWAY = 4_096;

export class OrdersUnderway {
  readonly #say: (command: InnerCommand) => void;
  /** In the order in which they were said; undefined: a ping. */
  #said: (ClientRecord | (() => void) | undefined)[] = [];

  constructor(say: (command: InnerCommand) => void) {
    this.#say = say;
  }

  order(client: ClientRecord, order: PaneOrder): void {
    this.#say({ type: "pane", client: client.id, order: JSON.stringify(order) });
    this.#note(client);
    this.ping();
  }

  /** @param come Called once all that was said before has come; never, if the hop breaks before that. */
  confirm(come: () => void): void {
    this.#note(come);
    this.ping();
  }

  ping(): void {
    this.#say({ type: "ping" });
    this.#note(undefined);
  }

  /** What was said before the oldest ping has come. */
  pong(): void {
    for (const one of this.#said.splice(0, this.#said.indexOf(undefined) + 1)) if (typeof one === "function") one();
  }

  /** The hop has broken. */
  lost(): void {
    for (const one of this.#said.splice(0)) if (typeof one === "object") one.tell(PANE_LOST);
  }

  #note(one: ClientRecord | (() => void) | undefined): void {
    this.#said.push(one);
    if (this.#said.length <= MAX_UNDERWAY) return;
    // An order only: each ping is answered, and what waits for one must hear of it.
    const oldest = this.#said.findIndex((said) => typeof said === "object");
    if (oldest >= 0) this.#said.splice(oldest, 1);
  }
}
