// An emulator's screen with row numbers that are never reused, although rows move when others leave the scrollback.

import type { EchoScreen } from "./echo-prediction.ts";

/** The public members of an xterm.js terminal that are read. */
export type MarkedTerminal = {
  readonly cols: number;
  readonly buffer: {
    readonly active: {
      readonly baseY: number;
      readonly cursorX: number;
      readonly cursorY: number;
      getLine(row: number): { getCell(column: number): { getChars(): string } | undefined } | undefined;
    };
  };
  /** @returns undefined on the alternate screen, whose lines move to no scrollback. */
  registerMarker(offset: number): { readonly line: number } | undefined;
};

/** Rows between two numberings: more than an emulator keeps. */
const ROWS_APART = 1_000_000;

export class NumberedRows {
  readonly #terminal: MarkedTerminal;
  readonly #renumbered: () => void;
  /** A marked line, which the emulator moves, and its number. */
  #anchor: { readonly marker: { readonly line: number }; readonly row: number } | undefined;
  #rows = 0;

  /** @param renumbered The marked line is gone, so that earlier numbers have no meaning any more. */
  constructor(terminal: MarkedTerminal, renumbered: () => void) {
    this.#terminal = terminal;
    this.#renumbered = renumbered;
  }

  /** The number of the oldest line. */
  get first(): number {
    const kept = this.#anchor;
    if (kept !== undefined && kept.marker.line >= 0) return kept.row - kept.marker.line;
    this.#rows += ROWS_APART;
    this.#renumbered();
    const { baseY, cursorY } = this.#terminal.buffer.active;
    const marker = this.#terminal.registerMarker(0) ?? { line: baseY + cursorY };
    this.#anchor = { marker, row: this.#rows + marker.line };
    return this.#rows;
  }

  get screen(): EchoScreen {
    const { cols, buffer } = this.#terminal;
    const { baseY, cursorX, cursorY } = buffer.active;
    const { first } = this;
    return {
      cols,
      cursor: { row: first + baseY + cursorY, column: cursorX },
      at: (row, column) =>
        buffer.active
          .getLine(row - first)
          ?.getCell(column)
          ?.getChars() ?? "",
    };
  }
}
