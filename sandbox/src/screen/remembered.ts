// Modes that the emulator ignores or forgets, and a real terminal behind a client does not: followed by parser hooks.

import type { Terminal } from "@xterm/headless";

/**
 * Reverse video, blinking cursor, backspace, mouse encodings, alternate scroll, meta keys, grapheme clusters, news of the
 * colour scheme. Not those that make a terminal report
 * something as soon as they are set.
 */
const MODES = new Set([5, 12, 67, 1005, 1007, 1015, 1034, 1035, 1036, 1039, 1042, 2027, 2031]);
const CURSOR_BLINK = 12;
const MAX_KEYBOARD_STACK = 16;

export class RememberedModes {
  readonly #modes = new Map<number, boolean>();
  /** DECSCUSR came after mode 12: a terminal takes the blinking from the later one. */
  #isShapeLater = false;
  /** XTMODKEYS: CSI > 4 ; value m. */
  #otherKeys: number | undefined;
  /** The kitty keyboard protocol's flags: those in force last. */
  #keyboard: number[] = [];
  /** Its flags while none are pushed. */
  #keyboardBase = 0;

  constructor(terminal: Terminal) {
    const { parser } = terminal;
    for (const final of ["h", "l"]) {
      parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        for (const mode of parameters) {
          if (typeof mode === "number" && MODES.has(mode)) this.#modes.set(mode, final === "h");
          if (mode === CURSOR_BLINK) this.#isShapeLater = false;
        }
        return false;
      });
    }
    parser.registerCsiHandler({ intermediates: " ", final: "q" }, () => {
      this.#isShapeLater = true;
      return false;
    });
    parser.registerCsiHandler({ prefix: ">", final: "m" }, ([resource, value]) => {
      if (resource === 4) this.#otherKeys = typeof value === "number" ? value : 0;
      return false;
    });
    parser.registerCsiHandler({ prefix: ">", final: "u" }, ([flags]) => {
      this.#keyboard.push(typeof flags === "number" ? flags : 0);
      if (this.#keyboard.length > MAX_KEYBOARD_STACK) this.#keyboard.shift();
      return false;
    });
    parser.registerCsiHandler({ prefix: "=", final: "u" }, ([flags, how]) => {
      this.#changeKeyboard(typeof flags === "number" ? flags : 0, how);
      return false;
    });
    parser.registerCsiHandler({ prefix: "<", final: "u" }, ([count]) => {
      const pops = typeof count === "number" && count > 0 ? count : 1;
      if (pops > this.#keyboard.length) this.#keyboardBase = 0;
      this.#keyboard.length = Math.max(0, this.#keyboard.length - pops);
      return false;
    });
    parser.registerEscHandler({ final: "c" }, () => {
      this.#reset();
      return false;
    });
  }

  /** The sequence to set before the cursor's shape. */
  get beforeShape(): string {
    return this.#isShapeLater ? this.#blink : "";
  }

  /** The sequences that set the others in a terminal that was just reset. */
  get text(): string {
    let text = this.#isShapeLater ? "" : this.#blink;
    for (const [mode, isSet] of this.#modes) if (isSet && mode !== CURSOR_BLINK) text += `\x1b[?${mode}h`;
    if (this.#otherKeys !== undefined && this.#otherKeys !== 0) text += `\x1b[>4;${this.#otherKeys}m`;
    if (this.#keyboardBase !== 0) text += `\x1b[=${this.#keyboardBase}u`;
    for (const flags of this.#keyboard) text += `\x1b[>${flags}u`;
    return text;
  }

  get #blink(): string {
    const blink = this.#modes.get(CURSOR_BLINK);
    return blink === undefined ? "" : `\x1b[?${CURSOR_BLINK}${blink ? "h" : "l"}`;
  }

  /** @param how 2: these flags too; 3: all but these; else these alone. */
  #changeKeyboard(flags: number, how: number | number[] | undefined): void {
    const last = this.#keyboard.length - 1;
    const before = this.#keyboard[last] ?? this.#keyboardBase;
    const after = how === 2 ? before | flags : how === 3 ? before & ~flags : flags;
    if (last < 0) this.#keyboardBase = after;
    else this.#keyboard[last] = after;
  }

  #reset(): void {
    const blink = this.#modes.get(CURSOR_BLINK);
    this.#modes.clear();
    // The emulator keeps this one.
    if (blink !== undefined) this.#modes.set(CURSOR_BLINK, blink);
    this.#otherKeys = undefined;
    this.#keyboard = [];
    this.#keyboardBase = 0;
  }
}
