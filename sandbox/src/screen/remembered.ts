// Modes that the emulator ignores or forgets, and a real terminal behind a client does not: the ledger of modes, told by parser hooks.

import type { Terminal } from "@xterm/headless";
import { followXterm, REPORTING_CSI, TerminalModes } from "sandbox-stdio/core";

/** Those of which the emulator keeps what the program has set last. */
const EMULATED = new Set([1, 6, 7, 9, 25, 45, 66, 1000, 1002, 1003, 1004, 1006, 1016, 2004, 2026]);
const EMULATED_ANSI = new Set([4, 20]);
/** Makes a terminal report something as soon as it is set. */
const SIZE_REPORTS = 2048;
/** What the ledger is told: private marker, intermediates and final byte. */
const FOLLOWED = [...REPORTING_CSI, "h", "l", " q", ">m", ">n", ">f", "=u", ">u", "<u"];

export class RememberedModes {
  readonly #modes = new TerminalModes();
  #undo = "";

  constructor(terminal: Terminal) {
    followXterm(terminal, this.#modes, FOLLOWED, (undo) => {
      this.#undo += undo;
    });
  }

  /** What undoes the modes that a program has left on which has ended since this was asked for last (K10). */
  takeUndo(): string {
    const undo = this.#undo;
    this.#undo = "";
    return undo;
  }

  /** The sequence to set before the cursor's shape. */
  get beforeShape(): string {
    const { text, isBeforeShape } = this.#modes.blink;
    return isBeforeShape ? text : "";
  }

  /** The sequences that set the others in a terminal that was just reset. */
  get text(): string {
    const { text, isBeforeShape } = this.#modes.blink;
    const settings = this.#modes.settings((mode, isPrivate) =>
      isPrivate ? mode === SIZE_REPORTS || EMULATED.has(mode) : EMULATED_ANSI.has(mode),
    );
    const { normal, alternate } = this.#modes.keyboards;
    return (isBeforeShape ? "" : text) + settings + (this.#modes.isAlternate ? alternate : normal);
  }

  /** The flags of the keyboard on the screen that is not shown: to be set while it is. */
  get hiddenKeyboard(): string {
    const { normal, alternate } = this.#modes.keyboards;
    return this.#modes.isAlternate ? normal : alternate;
  }
}
