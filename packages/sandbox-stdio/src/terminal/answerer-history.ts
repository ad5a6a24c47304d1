// Who answers terminal queries, by offset: the rule by which a client, or whoever sends to one that can't be told, knows
// which queries are its own.

/** From `offset` on this client answers; "": the bridge itself. */
export type Answerer = { readonly id: string; readonly offset: number };

/** One connection's view: who answers from where on, as its greeting and the messages after it have said. */
export class AnswererHistory {
  readonly #me: string;
  readonly #live: number;
  /** Oldest first: bytes of before a hand-over may still wait to be drawn. */
  #known: Answerer[];

  /** @param live Bytes before this are replay, which nobody answers. */
  constructor(me: string, live: number, first: Answerer) {
    this.#me = me;
    this.#live = live;
    this.#known = [first];
  }

  /** @param dealt All before this has been dealt with: who answered it need not be known any more. */
  note(answerer: Answerer, dealt: number): void {
    const isNeeded = (_: Answerer, i: number) => (this.#known[i + 1]?.offset ?? answerer.offset) > dealt;
    this.#known = [...this.#known.filter(isNeeded), { id: answerer.id, offset: answerer.offset }];
  }

  /** Whether a query is this client's whose last byte stands at `at` (the count of bytes before that last one). */
  mayAnswer(at: number): boolean {
    if (at < this.#live) return false;
    return this.#known.findLast((answerer) => answerer.offset <= at)?.id === this.#me;
  }

  /** The first offset after `at` where {@link mayAnswer} may say something else, as far as is known: infinity if none. */
  nextChange(at: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const change of [this.#live, ...this.#known.map((answerer) => answerer.offset)]) {
      if (change > at && change < next) next = change;
    }
    return next;
  }
}
