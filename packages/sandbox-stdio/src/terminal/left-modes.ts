// Finds modes that an ended program left on, by its shell's marks (OSC 133): a killed program can't switch off its mouse.

import type { ProgramMode, TerminalModes } from "./modes.ts";

export class LeftModes {
  readonly #modes: TerminalModes;
  /** Modes that were on when the running command started; undefined if none runs according to the marks. */
  #before: readonly ProgramMode[] | undefined = [];

  constructor(modes: TerminalModes) {
    this.#modes = modes;
  }

  /**
   * Follows the text of an OSC. The ledger of modes need not have followed it yet.
   * @returns The modes switched on since the command that ends here began, and still on.
   */
  follow(osc: string): readonly ProgramMode[] {
    const [, mark] = /^133;([CD])(?:;|$)/.exec(osc) ?? [];
    if (mark === undefined) return [];
    const before = this.#before;
    this.#before = mark === "C" ? this.#modes.programModes : undefined;
    return mark === "C" || before === undefined ? [] : this.#modes.programModes.filter((one) => !before.includes(one));
  }
}
