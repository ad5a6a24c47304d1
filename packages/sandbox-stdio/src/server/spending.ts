// Spends the budget of one connection's client (L10). Until that client is known, the budget is the connection's own; then
// it is the client's. A client that has none left is forbidden to go on.

import { Budget, type BudgetLimits } from "../session/budget.ts";
import type { ClientRecord } from "../session/client-record.ts";
import { MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";

const TOO_MUCH_SAID = "too many messages";
const TOO_MUCH_REFUSED = "too much input was refused";

export class Spending {
  #budget: Budget;
  readonly #forbid: (reason: string) => void;

  /** @param forbid Closes the client, and gives up its place. */
  constructor(limits: BudgetLimits, nowMs: number, forbid: (reason: string) => void) {
    this.#budget = new Budget(limits, nowMs);
    this.#forbid = forbid;
  }

  /** The connection is this client's. */
  join(client: ClientRecord, nowMs: number): void {
    client.budget?.join(this.#budget, nowMs);
    client.budget ??= this.#budget;
    this.#budget = client.budget;
  }

  /** @see Budget.mayType */
  get mayType(): boolean {
    return this.#budget.mayType;
  }

  /** @returns Whether the client may go on; else it has been closed. */
  message(nowMs: number): boolean {
    return this.#spend(this.#budget.message(nowMs), TOO_MUCH_SAID);
  }

  ack(nowMs: number, isWeighty: boolean): void {
    this.#spend(this.#budget.ack(nowMs, isWeighty), TOO_MUCH_SAID);
  }

  /** The client has given up the right to type. */
  yielded(): void {
    this.#budget.yielded();
  }

  accepted(): void {
    this.#budget.accepted();
  }

  /** @param from Where the refused input begins in the client's count; undefined of a client without acknowledgements. */
  refused(client: ClientRecord, from: number | undefined, bytes: number, nowMs: number): void {
    const moreBytes = client.inputWindow - MAX_UNACKED_INPUT_BYTES;
    this.#spend(this.#budget.refused(nowMs, bytes, onItsWay(client, from, bytes), moreBytes), TOO_MUCH_REFUSED);
  }

  #spend(isWithin: boolean, reason: string): boolean {
    if (!isWithin) this.#forbid(reason);
    return isWithin;
  }
}

/** How much input the client may have sent, from `from` on, before it can hear the answer of now. */
function onItsWay(client: ClientRecord, from: number | undefined, bytes: number): number {
  if (from === undefined) return bytes + client.feed.bytes + MAX_UNACKED_INPUT_BYTES;
  // These bytes may have been acknowledged just now, behind the message that they were refused.
  const told = Math.min(from, client.greeted?.inputAcks.sent ?? 0);
  return told + client.inputWindow - from;
}
