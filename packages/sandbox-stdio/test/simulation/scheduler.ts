// Virtual time: what is due is done in order, at once. Knows nothing of the protocol.

type Event = { at: number; order: number; run: (() => void) | undefined; isMessage: boolean; by: string };

export class Scheduler {
  now = 0;
  eventCount = 0;
  /** Called before each event: what it schedules, or ends, comes first if it is due. */
  onBoundary: ((isMessage: boolean) => void) | undefined;
  /** Called with each timer that fires. */
  onTimer: (() => void) | undefined;
  /** Whose turn it is: the one that a message came to, or whose timer fired. */
  turn = "";
  readonly #heap: Event[] = [];
  #order = 0;

  /** Runs `run` after `ms`. The result cancels it. */
  after(ms: number, run: () => void): () => void {
    return this.at(this.now + ms, run);
  }

  /** Runs `run` when it is `ms`, or now if it has been. The result cancels it. @param isMessage Whether a message comes then. */
  at(ms: number, run: () => void, isMessage = false): () => void {
    const event: Event = { at: Math.max(this.now, ms), order: this.#order++, run, isMessage, by: this.turn };
    this.#push(event);
    return () => {
      event.run = undefined;
    };
  }

  /** Runs events until `isDone`, or until there is none before `deadline`. @returns Whether it is done. */
  run(deadline: number, isDone: () => boolean): boolean {
    while (!isDone()) {
      const next = this.#heap[0];
      if (next?.run !== undefined) this.onBoundary?.(next.isMessage);
      const event = this.#pop();
      if (event === undefined) return false;
      if (event.at > deadline) {
        this.#push(event);
        return false;
      }
      this.now = event.at;
      if (event.run === undefined) continue;
      this.eventCount += 1;
      this.turn = event.by;
      if (!event.isMessage) this.onTimer?.();
      event.run();
    }
    return true;
  }

  /** What is due, in order: when, and by whom. */
  get agenda(): string[] {
    const events = this.#heap.filter(({ run }) => run !== undefined);
    events.sort((a, b) => (isBefore(a, b) ? -1 : 1));
    return events.map(({ at, isMessage, by }) => `${at} ${isMessage} ${by}`);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !isBefore(event, parent)) break;
      heap[at] = parent;
      at = up;
    }
    heap[at] = event;
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      const left = heap[down];
      if (left === undefined) break;
      const right = heap[down + 1];
      let child = left;
      if (right !== undefined && isBefore(right, left)) {
        down += 1;
        child = right;
      }
      if (!isBefore(child, last)) break;
      heap[at] = child;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
