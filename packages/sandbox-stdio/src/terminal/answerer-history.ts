// The answerer of terminal queries, by offset: with this rule a client knows which queries are its own. For a client that
// can't be told, the sender of its output applies the rule.

/** This client answers from `offset` on; "": the bridge itself. */
export type Answerer = { readonly id: string; readonly offset: number };

/** One connection's view: the answerer from each offset on, as its greeting and the messages after it have said. */
export class AnswererHistory {
  readonly #me: string;
  readonly #live: number;
  /** Oldest first: bytes of before a hand-over may still wait to be drawn. */
  #known: Answerer[];

  /** @param live Bytes before this are replay: queries in them get no answer. */
  constructor(me: string, live: number, first: Answerer) {
    this.#me = me;
    this.#live = live;
    this.#known = [first];
  }

  /** @param dealt All before this has been dealt with: its answerers need not be known any more. */
  note(answerer: Answerer, dealt: number): void {
    const isNeeded = (_: Answerer, i: number) => (this.#known[i + 1]?.offset ?? answerer.offset) > dealt;
    this.#known = [...this.#known.filter(isNeeded), { id: answerer.id, offset: answerer.offset }];
  }

  /** Whether this client answers a query whose last byte stands at `at` (the count of bytes before that last one). */
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
