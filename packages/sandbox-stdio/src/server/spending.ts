// Spends the budget of one connection's client (L10). The connection has its own budget until its client is known, then the
// client's. A client without budget is closed.

import { Budget, type BudgetLimits } from "../session/budget.ts";
import type { ClientRecord } from "../session/client-record.ts";
import { MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";

const TOO_MUCH_SAID = "too many messages";
const TOO_MUCH_REFUSED = "too much input was refused";

export class Spending {
  #budget: Budget;
  readonly #forbid: (reason: string) => void;

  /** @param forbid Closes the client and gives up its place. */
  constructor(limits: BudgetLimits, nowMs: number, forbid: (reason: string) => void) {
    this.#budget = new Budget(limits, nowMs);
    this.#forbid = forbid;
  }

  /** The connection belongs to this client. */
  join(client: ClientRecord, nowMs: number): void {
    client.budget?.join(this.#budget, nowMs);
    client.budget ??= this.#budget;
    this.#budget = client.budget;
  }

  /** @see Budget.mayType */
  get mayType(): boolean {
    return this.#budget.mayType;
  }

  /** @returns Whether the client may go on; if not, it has been closed. */
  message(nowMs: number): boolean {
    return this.#spend(this.#budget.message(nowMs), TOO_MUCH_SAID);
  }

  ack(nowMs: number, isWeighty: boolean): void {
    this.#spend(this.#budget.ack(nowMs, isWeighty), TOO_MUCH_SAID);
  }

  /** The client gave up the right to type itself. */
  yielded(): void {
    this.#budget.yielded();
  }

  accepted(): void {
    this.#budget.accepted();
  }

  /** @param from Start of the refused input in the client's count; undefined for a client without acknowledgements. */
  refused(client: ClientRecord, from: number | undefined, bytes: number, nowMs: number): void {
    const moreBytes = client.inputWindow - MAX_UNACKED_INPUT_BYTES;
    this.#spend(this.#budget.refused(nowMs, bytes, inFlight(client, from, bytes), moreBytes), TOO_MUCH_REFUSED);
  }

  #spend(isWithin: boolean, reason: string): boolean {
    if (!isWithin) this.#forbid(reason);
    return isWithin;
  }
}

/** How much input from `from` on the client may have sent before it can learn of the refusal. */
function inFlight(client: ClientRecord, from: number | undefined, bytes: number): number {
  if (from === undefined) return bytes + client.feed.bytes + MAX_UNACKED_INPUT_BYTES;
  // These bytes may just have been acknowledged, after the message that refused them.
  const told = Math.min(from, client.greeted?.inputAcks.sent ?? 0);
  return told + client.inputWindow - from;
}
