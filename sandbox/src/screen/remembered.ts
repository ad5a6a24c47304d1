// Modes that the emulator ignores or forgets, and a real terminal behind a client does not: followed by parser hooks.

import type { Terminal } from "@xterm/headless";

/**
 * Reverse video, blinking cursor, mouse encodings, alternate scroll, meta keys. Not those that make a terminal report
 * something as soon as they are set.
 */
const MODES = new Set([5, 12, 1005, 1007, 1015, 1034, 1035, 1036, 1039, 1042]);
const CURSOR_BLINK = 12;
const MAX_KEYBOARD_STACK = 16;

export class RememberedModes {
  readonly #modes = new Map<number, boolean>();
  /** XTMODKEYS: CSI > 4 ; value m. */
  #otherKeys: number | undefined;
  /** The kitty keyboard protocol's flags: those in force last. */
  #keyboard: number[] = [];

  constructor(terminal: Terminal) {
    const { parser } = terminal;
    for (const final of ["h", "l"]) {
      parser.registerCsiHandler({ prefix: "?", final }, (parameters) => {
        for (const mode of parameters) {
          if (typeof mode === "number" && MODES.has(mode)) this.#modes.set(mode, final === "h");
        }
        return false;
      });
    }
    parser.registerCsiHandler({ prefix: ">", final: "m" }, ([resource, value]) => {
      if (resource === 4) this.#otherKeys = typeof value === "number" ? value : 0;
      return false;
    });
    parser.registerCsiHandler({ prefix: ">", final: "u" }, ([flags]) => {
      this.#keyboard.push(typeof flags === "number" ? flags : 0);
      if (this.#keyboard.length > MAX_KEYBOARD_STACK) this.#keyboard.shift();
      return false;
    });
    parser.registerCsiHandler({ prefix: "<", final: "u" }, ([count]) => {
      const pops = typeof count === "number" && count > 0 ? count : 1;
      this.#keyboard.length = Math.max(0, this.#keyboard.length - pops);
      return false;
    });
    parser.registerEscHandler({ final: "c" }, () => {
      this.#reset();
      return false;
    });
  }

  /** The sequences that set them in a terminal that was just reset. */
  get text(): string {
    let text = "";
    for (const [mode, isSet] of this.#modes)
      if (isSet || mode === CURSOR_BLINK) text += `\x1b[?${mode}${isSet ? "h" : "l"}`;
    if (this.#otherKeys !== undefined && this.#otherKeys !== 0) text += `\x1b[>4;${this.#otherKeys}m`;
    for (const flags of this.#keyboard) text += `\x1b[>${flags}u`;
    return text;
  }

  #reset(): void {
    const blink = this.#modes.get(CURSOR_BLINK);
    this.#modes.clear();
    // The emulator keeps this one.
    if (blink !== undefined) this.#modes.set(CURSOR_BLINK, blink);
    this.#otherKeys = undefined;
    this.#keyboard = [];
  }
}
