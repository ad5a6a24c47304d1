// The flags of kitty's keyboard protocol that a program has set. Each of a terminal's two screens has its own flags and stack.

/** Depth in real terminals: pushing on a full stack drops the oldest entry. */
const MAX_DEPTH = 16;
const REPLACE = 1;
const ADD = 2;
const REMOVE = 3;

export class KeyboardStack {
  #flags = 0;
  /** The flags that each pop restores. */
  #below: number[] = [];

  push(flags: number): void {
    this.#below.push(this.#flags);
    if (this.#below.length > MAX_DEPTH) this.#below.shift();
    this.#flags = flags;
  }

  pop(count: number): void {
    for (let left = count; left > 0; left -= 1) {
      const before = this.#below.pop();
      this.#flags = before ?? 0;
      if (before === undefined) return;
    }
  }

  change(flags: number, how: number = REPLACE): void {
    if (how === ADD) this.#flags |= flags;
    else if (how === REMOVE) this.#flags &= ~flags;
    else this.#flags = flags;
  }

  clear(): void {
    this.#flags = 0;
    this.#below = [];
  }

  get flags(): number {
    return this.#flags;
  }

  /** The sequence that undoes everything on the current screen; "" if nothing was changed. */
  get undo(): string {
    const base = this.#below[0] ?? this.#flags;
    const pops = this.#below.length === 0 ? "" : `\x1b[<${this.#below.length}u`;
    return pops + (base === 0 ? "" : "\x1b[=0u");
  }

  /** The sequences that set the same flags on an unchanged screen. */
  get settings(): string {
    const [base = 0, ...pushed] = [...this.#below, this.#flags];
    return (base === 0 ? "" : `\x1b[=${base}u`) + pushed.map((flags) => `\x1b[>${flags}u`).join("");
  }
}
