// Tracks colours and the pointer's shape that a program has changed by OSC, and makes the sequences that restore them.

const ST = "\x1b\\";
/** OSC numbers that take a list of pairs: index and colour. */
const LISTS: ReadonlySet<number> = new Set([4, 5]);
/** First and last OSC number for a single colour each, beginning with the foreground. */
const [FIRST_DYNAMIC, LAST_DYNAMIC] = [10, 19];
/** Added to an OSC number to restore its colour. */
const RESTORE = 100;
const KITTY_COLOURS = 21;
const POINTER = 22;
/** A list that was not seen whole may have changed any index. */
const ALL = "";
const INDEX = /^\d{1,3}$/;
const KITTY_NAME = /^[\w-]{1,64}$/;
const MAX_KITTY_NAMES = 512;

export class ColourChanges {
  /** The changed indexes or names by OSC number; only {@link ALL} if it has no index. */
  readonly #changed = new Map<number, Set<string>>();

  /**
   * Follows the text of an OSC.
   * @param isWhole False if the text was cut.
   * @returns Whether the OSC is one of those tracked here.
   */
  follow(id: number, text: string, isWhole: boolean): boolean {
    if (id === POINTER) {
      this.#set(id, text === "" || text === "?" ? undefined : ALL);
      return true;
    }
    const [isRestore, own] = id > RESTORE ? [true, id - RESTORE] : [false, id];
    const isDynamic = own >= FIRST_DYNAMIC && own <= LAST_DYNAMIC;
    if (!isDynamic && !LISTS.has(own) && id !== KITTY_COLOURS) return false;
    const slots = text.split(";");
    if (id === KITTY_COLOURS) for (const slot of slots) this.#kitty(slot);
    else if (isRestore) this.#restored(own, isDynamic ? [ALL] : slots);
    else if (isDynamic) this.#dynamic(own, slots);
    else this.#list(own, isWhole ? slots : [ALL, ""]);
    return true;
  }

  /** The sequences that restore everything changed. */
  get undo(): string {
    let text = "";
    for (const [id, names] of this.#changed) {
      if (id === POINTER) text += `\x1b]${POINTER};${ST}`;
      else if (id === KITTY_COLOURS)
        text += `\x1b]${KITTY_COLOURS};${[...names].map((name) => `${name}=`).join(";")}${ST}`;
      else if (LISTS.has(id) && !names.has(ALL)) text += `\x1b]${id + RESTORE};${[...names].join(";")}${ST}`;
      else text += `\x1b]${id + RESTORE}${ST}`;
    }
    return text;
  }

  #list(id: number, slots: readonly string[]): void {
    for (let i = 0; i + 1 < slots.length; i += 2) {
      const [index = "", colour] = [slots[i], slots[i + 1]];
      if (colour !== "?" && (index === ALL || INDEX.test(index))) this.#set(id, index);
    }
  }

  /** Further colours belong to the numbers that follow. */
  #dynamic(first: number, slots: readonly string[]): void {
    for (const [i, slot] of slots.entries()) {
      if (slot !== "" && slot !== "?" && first + i <= LAST_DYNAMIC) this.#set(first + i, ALL);
    }
  }

  #kitty(slot: string): void {
    const [name = "", value] = slot.split("=");
    if (value === "?") return;
    if (value === undefined || value === "") this.#restored(KITTY_COLOURS, [name]);
    else if (KITTY_NAME.test(name) && (this.#changed.get(KITTY_COLOURS)?.size ?? 0) < MAX_KITTY_NAMES)
      this.#set(KITTY_COLOURS, name);
  }

  /** @param names All of them if the first is {@link ALL}. */
  #restored(id: number, names: readonly string[]): void {
    const changed = this.#changed.get(id);
    if (names[0] === ALL) changed?.clear();
    for (const name of names) changed?.delete(name);
    if (changed?.size === 0) this.#changed.delete(id);
  }

  /** @param name undefined: the original value. */
  #set(id: number, name: string | undefined): void {
    if (name === undefined) this.#changed.delete(id);
    else this.#changed.set(id, (this.#changed.get(id) ?? new Set()).add(name));
  }
}
