// The modes that an application has switched on in the terminal and not off again, and how to switch them off at the end.
// Pure.

import type { Sequence } from "sandbox-stdio/core";

/** The parts of a CSI: private marker, parameters, intermediates, final byte. */
const CSI_PARTS = /^([<-?]?)([\d;:]*)([ -/]*)([@-~])$/;

/** Application keypad. */
const KEYPAD = 66;

/** Private modes that would trouble a shell, and whether they are on in an untouched terminal. */
const PRIVATE_MODES: ReadonlyMap<number, boolean> = new Map([
  [1, false], // cursor keys send application codes
  [5, false], // reverse video
  [6, false], // origin
  [7, true], // wrap at the right edge
  [9, false], // mouse …
  [25, true], // cursor is visible
  [KEYPAD, false],
  [1000, false],
  [1001, false],
  [1002, false],
  [1003, false],
  [1004, false], // focus is reported
  [1005, false],
  [1006, false],
  [1015, false],
  [1016, false], // … mouse
  [2004, false], // pasted text is bracketed
  [2026, false], // drawing is held back
  [2031, false], // changes of colour scheme are reported
  [2048, false], // changes of size are reported
]);
const ALTERNATE_SCREENS: readonly number[] = [1049, 1047, 47];

export class TerminalModes {
  /** Private modes that are not as in an untouched terminal. */
  readonly #private = new Set<number>();
  readonly #alternate = new Set<number>();
  #hasRendition = false;
  #hasRegion = false;
  #hasCharset = false;
  #hasCursorStyle = false;
  #isInserting = false;
  #hasModifiedKeys = false;
  #kittyPushes = 0;
  #title = "";

  /** The title that the application gave the terminal's window; "" if it gave none. */
  get title(): string {
    return this.#title;
  }

  /** Whether the screen is one that a full-screen application draws on, without scrollback. */
  get isAlternate(): boolean {
    return this.#alternate.size > 0;
  }

  /** Shift out and shift in, which are single bytes. */
  shift(isOut: boolean): void {
    this.#hasCharset = isOut;
  }

  follow(sequence: Sequence): void {
    if (sequence.kind === "escape") this.#escape(sequence.text);
    else if (sequence.kind === "csi") this.#csi(sequence.text);
    else if (sequence.kind === "osc" && /^[02];/.test(sequence.text)) {
      this.#title = Buffer.from(sequence.text.slice(2), "latin1").toString("utf8");
    }
  }

  /** The sequence that undoes everything that is still on: empty for a terminal that is as it was found. */
  resetSequence(): string {
    let reset = "";
    for (const mode of this.#private) {
      // Not every terminal that knows the keypad's sequence knows its mode: tmux doesn't.
      reset += mode === KEYPAD ? "\x1b>" : `\x1b[?${mode}${PRIVATE_MODES.get(mode) ? "h" : "l"}`;
    }
    // Setting a region moves the cursor; the alternate screen brings its own back, so this comes before it.
    if (this.#hasRegion) reset += "\x1b7\x1b[r\x1b8";
    if (this.#kittyPushes > 0) reset += `\x1b[<${this.#kittyPushes}u`;
    for (const mode of this.#alternate) reset += `\x1b[?${mode}l`;
    if (this.#hasModifiedKeys) reset += "\x1b[>4m";
    if (this.#isInserting) reset += "\x1b[4l";
    if (this.#hasCharset) reset += "\x0f\x1b(B";
    if (this.#hasRendition) reset += "\x1b[m";
    if (this.#hasCursorStyle) reset += "\x1b[0 q";
    return reset;
  }

  #escape(text: string): void {
    if (text === "c") this.#clear();
    else if (text === "=") this.#private.add(KEYPAD);
    else if (text === ">") this.#private.delete(KEYPAD);
    else if (text.startsWith("(")) this.#hasCharset = text !== "(B";
  }

  #csi(text: string): void {
    const parts = CSI_PARTS.exec(text);
    if (parts === null) return;
    const [, marker = "", params = "", intermediates = "", final = ""] = parts;
    switch (marker + intermediates + final) {
      case "?h":
      case "?l":
        for (const mode of params.split(";")) this.#setPrivate(Number(mode), final === "h");
        return;
      case "h":
      case "l":
        if (params.split(";").includes("4")) this.#isInserting = final === "h";
        return;
      case "m":
        this.#hasRendition = !/^[0;]*$/.test(params);
        return;
      case "r":
        this.#hasRegion = params !== "" && params !== ";";
        return;
      case " q":
        this.#hasCursorStyle = params !== "" && params !== "0";
        return;
      case ">m":
        if (/^4(;|$)/.test(params)) this.#hasModifiedKeys = /^4;[1-9]/.test(params);
        return;
      case ">u":
        this.#kittyPushes += 1;
        return;
      case "<u":
        this.#kittyPushes = Math.max(0, this.#kittyPushes - (Number(params) || 1));
        return;
      case "!p":
        this.#clear();
        return;
    }
  }

  #setPrivate(mode: number, isOn: boolean): void {
    if (ALTERNATE_SCREENS.includes(mode)) {
      if (isOn) this.#alternate.add(mode);
      else this.#alternate.clear(); // There is one alternate screen, whichever mode leaves it.
      return;
    }
    const untouched = PRIVATE_MODES.get(mode);
    if (untouched === undefined) return;
    if (isOn === untouched) this.#private.delete(mode);
    else this.#private.add(mode);
  }

  #clear(): void {
    this.#private.clear();
    this.#alternate.clear();
    this.#hasRendition = false;
    this.#hasRegion = false;
    this.#hasCharset = false;
    this.#hasCursorStyle = false;
    this.#isInserting = false;
    this.#hasModifiedKeys = false;
    this.#kittyPushes = 0;
  }
}
