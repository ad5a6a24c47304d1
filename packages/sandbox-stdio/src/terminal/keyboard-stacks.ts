// The flags of kitty's keyboard protocol that a program has set: each of a terminal's two screens has flags, and a stack, of its own.

/** As deep as terminals have it: what is pushed on a full stack pushes the oldest out. */
const MAX_DEPTH = 16;
const REPLACE = 1;
const ADD = 2;
const REMOVE = 3;

export class KeyboardStack {
  #flags = 0;
  /** The flags to which each pop goes back. */
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

  /** The sequence that undoes all of it on the screen that is shown; "": it is as nobody has changed it. */
  get undo(): string {
    const base = this.#below[0] ?? this.#flags;
    const pops = this.#below.length === 0 ? "" : `\x1b[<${this.#below.length}u`;
    return pops + (base === 0 ? "" : "\x1b[=0u");
  }

  /** The sequences that set the same on a screen on which nobody has set any. */
  get settings(): string {
    const [base = 0, ...pushed] = [...this.#below, this.#flags];
    return (base === 0 ? "" : `\x1b[=${base}u`) + pushed.map((flags) => `\x1b[>${flags}u`).join("");
  }
}
