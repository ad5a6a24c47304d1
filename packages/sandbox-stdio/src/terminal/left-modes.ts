// Modes that a program has left on when it ended, by the marks of its shell (OSC 133): a killed one can't switch off its mouse.

import type { ProgramMode, TerminalModes } from "./modes.ts";

export class LeftModes {
  readonly #modes: TerminalModes;
  /** On when the command that runs was started; undefined: none runs, as far as the marks say. */
  #before: readonly ProgramMode[] | undefined = [];

  constructor(modes: TerminalModes) {
    this.#modes = modes;
  }

  /**
   * Follows the text of an OSC, whose effects the ledger of modes need not know.
   * @returns What was switched on since the command began that ends here, and is still on.
   */
  follow(osc: string): readonly ProgramMode[] {
    const [, mark] = /^133;([CD])(?:;|$)/.exec(osc) ?? [];
    if (mark === undefined) return [];
    const before = this.#before;
    this.#before = mark === "C" ? this.#modes.programModes : undefined;
    return mark === "C" || before === undefined ? [] : this.#modes.programModes.filter((one) => !before.includes(one));
  }
}
