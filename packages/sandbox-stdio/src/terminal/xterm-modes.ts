// Feeds a ledger of modes from an xterm.js parser, and finds what a killed program left on (K10).

import type { ProgramMode, TerminalModes } from "./modes.ts";

/** The members used of a terminal of `@xterm/xterm` or `@xterm/headless`. */
type ParsingTerminal = {
  readonly parser: {
    registerCsiHandler(
      id: { readonly prefix?: string; readonly intermediates?: string; readonly final: string },
      handler: (params: readonly (number | number[])[]) => boolean,
    ): unknown;
    registerEscHandler(id: { readonly final: string }, handler: () => boolean): unknown;
    registerOscHandler(number: number, handler: (text: string) => boolean): unknown;
  };
};

/** Modes in which a terminal sends input by itself. Others may be the shell's, which sets them again before its prompt. */
const REPORTS = ["mouse", "reports"] as const;
export const REPORTING_CSI: readonly string[] = ["?h", "?l", "'z", "=u", ">u", "<u"];
const SHELL_MARK = 133;

/**
 * @param names CSI to report to the ledger: private marker, intermediates and final byte.
 * @param left Called with the sequence that undoes what a killed program left on. Write it to the terminal soon.
 * @param keysLeft Called if it left kitty's keyboard flags on: these are to be dropped at once, before the shell sets its own.
 */
export function followXterm(
  { parser }: ParsingTerminal,
  modes: TerminalModes,
  names: readonly string[],
  left: (undo: string) => void,
  keysLeft: () => void = () => undefined,
): void {
  for (const name of names) {
    const [, prefix = "", intermediates = "", final = ""] = /^([<-?]?)([ -/]*)(.)$/.exec(name) ?? [];
    const id = { final, prefix, intermediates };
    parser.registerCsiHandler(id, (params) => {
      modes.csi(name, params.map((one) => (typeof one === "number" ? one : one.join(":"))).join(";"));
      return false;
    });
  }
  for (const final of ["c", "=", ">"]) {
    parser.registerEscHandler({ final }, () => {
      modes.escape(final);
      return false;
    });
  }
  const watch = new LeftModes(modes);
  parser.registerOscHandler(SHELL_MARK, (text) => {
    const on = watch.follow(`${SHELL_MARK};${text}`);
    const undo = modes.takeBack(REPORTS.filter((one) => on.includes(one)));
    if (undo !== "") left(undo);
    if (on.includes("keys") && modes.keyboardFlags !== 0) {
      modes.dropKeyboard();
      keysLeft();
    }
    return false;
  });
}

/** Finds modes that an ended program left on, by its shell's marks (OSC 133): a killed program can't switch off its mouse. */
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
