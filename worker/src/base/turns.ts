// Tasks of one name follow each other; those of different names don't wait for each other.

export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  of<T>(name: string, task: () => Promise<T>): Promise<T> {
    const turn = (this.#last.get(name) ?? Promise.resolve()).then(task);
    const settled = turn.catch(() => undefined);
    this.#last.set(name, settled);
    void settled.then(() => {
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    return turn;
  }
}
