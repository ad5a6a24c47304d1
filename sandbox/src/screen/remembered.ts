// Modes that the emulator ignores or forgets, but a client's terminal keeps: the ledger of modes, fed by parser hooks.

import type { Terminal } from "@xterm/headless";
import { followXterm, REPORTING_CSI, TerminalModes } from "sandbox-stdio/core";

/** Modes that the emulator keeps. */
const EMULATED = new Set([1, 6, 7, 9, 25, 45, 66, 1000, 1002, 1003, 1004, 1006, 1016, 2004, 2026]);
const EMULATED_ANSI = new Set([4, 20]);
/** A terminal sends a report as soon as this mode is set. */
const SIZE_REPORTS = 2048;
/** The sequences that the ledger needs: private marker, intermediates and final byte. */
const FOLLOWED = [...REPORTING_CSI, "h", "l", " q", ">m", ">n", ">f"];

export class RememberedModes {
  readonly #modes = new TerminalModes();
  #undo = "";

  constructor(terminal: Terminal) {
    followXterm(terminal, this.#modes, FOLLOWED, (undo) => {
      this.#undo += undo;
    });
  }

  /** The sequences that undo the modes left on by programs that have ended since the last call (K10). */
  takeUndo(): string {
    const undo = this.#undo;
    this.#undo = "";
    return undo;
  }

  /** The sequence to be written before the cursor's shape is set. */
  get beforeShape(): string {
    const { text, isBeforeShape } = this.#modes.blink;
    return isBeforeShape ? text : "";
  }

  /** The sequences that set the other modes in a terminal that was just reset. */
  get text(): string {
    const { text, isBeforeShape } = this.#modes.blink;
    const settings = this.#modes.settings((mode, isPrivate) =>
      isPrivate ? mode === SIZE_REPORTS || EMULATED.has(mode) : EMULATED_ANSI.has(mode),
    );
    const { normal, alternate } = this.#modes.keyboards;
    return (isBeforeShape ? "" : text) + settings + (this.#modes.isAlternate ? alternate : normal);
  }

  /** The keyboard flags of the hidden screen: to be written while that screen is shown. */
  get hiddenKeyboard(): string {
    const { normal, alternate } = this.#modes.keyboards;
    return this.#modes.isAlternate ? normal : alternate;
  }
}
