// Determines by offset who answers terminal queries, so that a client knows which are its own. For a client that can't be told,
// the sender of its output applies the rule.

/** A client answers from `offset` on; "": the bridge. */
export type Answerer = { readonly id: string; readonly offset: number };

/** One connection's view: the answerer from each offset on, according to its greeting and later messages. */
export class AnswererHistory {
  readonly #me: string;
  readonly #live: number;
  /** Oldest first: bytes from before a handover may still wait to be drawn. */
  #known: Answerer[];

  /** @param live Bytes before this are replay, whose queries are not answered. */
  constructor(me: string, live: number, first: Answerer) {
    this.#me = me;
    this.#live = live;
    this.#known = [first];
  }

  /** @param processedTo Everything before this is processed, so its answerers are forgotten. */
  note(answerer: Answerer, processedTo: number): void {
    const isNeeded = (_: Answerer, i: number) => (this.#known[i + 1]?.offset ?? answerer.offset) > processedTo;
    this.#known = [...this.#known.filter(isNeeded), { id: answerer.id, offset: answerer.offset }];
  }

  /** Whether this client answers a query whose last byte is at `at`. */
  mayAnswer(at: number): boolean {
    if (at < this.#live) return false;
    return this.#known.findLast((answerer) => answerer.offset <= at)?.id === this.#me;
  }

  /** The first known offset after `at` where {@link mayAnswer} may change; infinity if none. */
  nextChange(at: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const change of [this.#live, ...this.#known.map((answerer) => answerer.offset)]) {
      if (change > at && change < next) next = change;
    }
    return next;
  }
}
