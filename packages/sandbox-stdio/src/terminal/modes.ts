// The one ledger of how a program has changed a terminal: modes, screens, margins, character sets, colours and so on. Makes the
// sequences that undo it, or set it in another terminal. Fed with sequences; knows no emulator.

import { fromLatin1 } from "../text/latin1.ts";
import { decodeUtf8 } from "../text/utf8-text.ts";
import { ColourChanges } from "./colours.ts";
import { KeyboardStack } from "./keyboard-stacks.ts";
import type { Sequence } from "./query-filter.ts";

/** The parts of a CSI: private marker, parameters, intermediates, final byte. */
const CSI_PARTS = /^([<-?]?)([\d;:]*)([ -/]*)([@-~])$/;
const ST = "\x1b\\";
const MAX_MODES = 256;
const MAX_COLS = 1_000;
const TAB_WIDTH = 8;

/** ANSI modes: IRM inserts; SRM, on by default, suppresses local echo; LNM pairs LF with CR. */
const [INSERT, NO_ECHO, NEWLINE] = [4, 12, 20];
const [VT52, ORIGIN, BLINK, CURSOR, KEYPAD] = [2, 6, 12, 25, 66] as const;
const ALTERNATE_SCREENS: readonly number[] = [1049, 1047, 47];
/** Private modes whose reset restores a saved cursor. */
const SAVED_CURSORS: readonly number[] = [1048, 1049];
/** Private modes that are on in an untouched terminal; all others are off. {@link VT52} off means VT52 emulation. */
const ON_BY_DEFAULT: ReadonlySet<number> = new Set([VT52, 7, 8, 19, CURSOR, 1007, 1046, 1070]);
/** Modes in which terminals differ, or whose reset has side effects: 80 columns, Tektronix. */
const LEFT_ALONE: ReadonlySet<number> = new Set([3, 38, 40, 1034, 1035, 1036, 1039, 1042, 2027, 737769]);

/** Settings by one CSI each: their default, and the sequence that restores it. */
const SETTINGS: ReadonlyMap<string, { readonly usual: RegExp; readonly undo: string }> = new Map([
  ["i", { usual: /^(?!5)/, undo: "\x1b[4i" }], // all output goes to a printer
  ["?i", { usual: /^(?!5)/, undo: "\x1b[?4i" }], // each line does, too
  ["$}", { usual: /^0?$/, undo: "\x1b[0$}" }], // output goes to the status line
  ["$~", { usual: /^0?$/, undo: "\x1b[0$~" }], // the status line's kind
  ["m", { usual: /^[0;]*$/, undo: "\x1b[m" }],
  ['"q', { usual: /^[02]?$/, undo: '\x1b[0"q' }], // text is protected
  ["*x", { usual: /^0?$/, undo: "\x1b[0*x" }], // what changes of a rectangle
  ["q", { usual: /^0?$/, undo: "\x1b[0q" }], // lamps
  ["'z", { usual: /^0?(;|$)/, undo: "\x1b[0'z" }], // the locator reports
  [" q", { usual: /^0?$/, undo: "\x1b[0 q" }], // the cursor's shape
]);
/** Undo these first: until then output goes elsewhere. */
const FIRST_SETTINGS: readonly string[] = ["i", "?i", "$}", "$~"];
/** Settings that a restored cursor brings back. */
const SAVED_SETTINGS: readonly string[] = ["m", '"q'];
const LOCATOR = "'z";
const SHAPE = " q";
/** Slots by the first byte of the designating sequence: sets of 94 and of 96 characters. */
const CHARSETS: ReadonlyMap<string, string> = new Map([..."()*+"].map((slot) => [slot, slot]))
  .set("-", ")")
  .set(".", "*")
  .set("/", "+");

/** Groups of modes that a program switches on for itself and that a shell does not need. */
export type ProgramMode = "mouse" | "reports" | "keys" | "screen" | "cursor" | "characters";
const PROGRAM_MODES: readonly ProgramMode[] = ["mouse", "reports", "keys", "screen", "cursor", "characters"];
const PRIVATE_PROGRAM_MODES: ReadonlyMap<ProgramMode, readonly number[]> = new Map([
  ["mouse", [9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]],
  ["reports", [1004, 2031, 2048, 9001]], // changes of focus, colours and size; keys with their releases
  ["keys", [1, KEYPAD]],
  ["cursor", [CURSOR]],
]);

export class TerminalModes {
  /** The last value of each mode that was ever set. */
  readonly #private = new Map<number, boolean>();
  readonly #ansi = new Map<number, boolean>();
  readonly #alternate = new Set<number>();
  /** Sequences of {@link SETTINGS} by name; defaults are missing. */
  readonly #settings = new Map<string, string>();
  /** Settings and character sets that were ever changed: a cursor may have been saved with them. */
  readonly #everSet = new Set<string>();
  /** Slots of G0 to G3 that are not ASCII. */
  readonly #charsets = new Set<string>();
  #isShifted = false;
  #hasRegion = false;
  #hasTabs = false;
  /** Whether an encoding other than UTF-8, or one-byte C1 controls, were selected. */
  #hasCoding = false;
  #hasShortControls = false;
  #isLinkOpen = false;
  #hasProgress = false;
  readonly #keyboard = { normal: new KeyboardStack(), alternate: new KeyboardStack() };
  /** XTMODKEYS and XTFMTKEYS, by final byte and resource. */
  readonly #keys = new Map<string, string>();
  readonly #colours = new ColourChanges();
  #isShapeLater = false;
  #title = "";

  /** The window's title; "" if the program set none. */
  get title(): string {
    return this.#title;
  }

  /** Whether the alternate screen is shown, which has no scrollback. */
  get isAlternate(): boolean {
    return this.#alternate.size > 0;
  }

  /** Handles the single bytes shift out and shift in. */
  shift(isOut: boolean): void {
    this.#isShifted = isOut;
    if (isOut) this.#everSet.add("(");
  }

  follow({ kind, text, isWhole = true }: Sequence): void {
    if (kind === "escape") this.escape(text);
    else if (kind === "osc") this.#osc(text, isWhole);
    else if (kind === "csi") {
      const [, marker = "", params = "", intermediates = "", final = ""] = CSI_PARTS.exec(text) ?? [];
      if (final !== "") this.csi(marker + intermediates + final, params);
    }
  }

  /** @param name Marker, intermediates and final byte. */
  csi(name: string, params: string): void {
    const setting = SETTINGS.get(name);
    if (setting !== undefined) {
      if (name === SHAPE) this.#isShapeLater = true;
      if (setting.usual.test(params)) this.#settings.delete(name);
      else {
        this.#settings.set(name, csiOf(name, params));
        this.#everSet.add(name);
      }
      return;
    }
    switch (name) {
      case "?h":
      case "?l":
        for (const mode of numbersOf(params)) this.#setPrivate(mode, name === "?h");
        return;
      case "h":
      case "l":
        for (const mode of numbersOf(params)) if (this.#ansi.size < MAX_MODES) this.#ansi.set(mode, name === "h");
        return;
      case "r":
        this.#hasRegion = params !== "" && params !== ";";
        return;
      case "g":
      case "W":
        this.#hasTabs = true;
        return;
      case "?W":
        this.#hasTabs = !/^0*5$/.test(params);
        return;
      case "u":
        this.#cursorRestored();
        return;
      case ">m":
      case ">n":
      case ">f":
        this.#setKeys(name, params);
        return;
      case "=u":
      case ">u":
      case "<u":
        this.#setKeyboard(name, params);
    }
  }

  /** @param text The part after the ESC. */
  escape(text: string): void {
    const slot = CHARSETS.get(text.slice(0, 1));
    if (slot !== undefined && text.length > 1) {
      if (text.slice(1) === "B") this.#charsets.delete(slot);
      else {
        this.#charsets.add(slot);
        this.#everSet.add(slot);
      }
      return;
    }
    if (/^[no~}|]$/.test(text)) this.shift(true);
    else if (text === "c") this.#clear();
    else if (text === "=" || text === ">") this.#setPrivate(KEYPAD, text === "=");
    else if (text === "8") this.#cursorRestored();
    else if (text === "H") this.#hasTabs = true;
    else if (text.startsWith("%")) this.#hasCoding = text !== "%G";
    else if (text === " F" || text === " G") this.#hasShortControls = text === " G";
  }

  // ---- Undoing and restoring ------------------------------------------------------------------------------------

  /** The sequence that undoes everything still changed; "" for an untouched terminal. @param cols The terminal's columns. */
  resetSequence(cols: number): string {
    const wasAlternate = this.isAlternate;
    let reset = this.#private.get(VT52) === false ? "\x1b<" : "";
    for (const name of FIRST_SETTINGS) reset += this.#undoSetting(name);
    if (this.#hasCoding) reset += "\x1b%G";
    if (this.#hasShortControls) reset += "\x1b F";
    if (this.#isLinkOpen) reset += `\x1b]8;;${ST}`;
    for (const [mode, isOn] of this.#private) if (isToUndo(mode, isOn)) reset += setPrivate(mode, !isOn);
    for (const [mode, isOn] of this.#ansi) if (isOn !== (mode === NO_ECHO)) reset += `\x1b[${mode}${isOn ? "l" : "h"}`;
    reset += this.#undoScreen() + this.#keyboard.normal.undo + this.#undoCharacters();
    for (const name of SAVED_SETTINGS) reset += this.#undoSetting(name);
    reset += this.#undoPlaces(wasAlternate, cols) + this.#undoKeys();
    for (const name of ["*x", "q", LOCATOR]) reset += this.#undoSetting(name);
    if (this.#settings.has(SHAPE) || this.#private.has(BLINK)) reset += SETTINGS.get(SHAPE)?.undo;
    return reset + this.#colours.undo + (this.#hasProgress ? `\x1b]9;4;0${ST}` : "");
  }

  /** The groups of modes that a program has switched on. */
  get programModes(): readonly ProgramMode[] {
    return PROGRAM_MODES.filter((one) => {
      if (one === "screen") return this.isAlternate;
      if (one === "characters") return this.#isShifted || this.#charsets.size > 0 || this.#ansi.get(INSERT) === true;
      const hasMode = privateModesOf(one).some((mode) => this.#isChanged(mode));
      if (one === "mouse") return hasMode || this.#settings.has(LOCATOR);
      if (one === "keys") return hasMode || this.#keys.size > 0 || this.#currentKeyboard.undo !== "";
      return hasMode;
    });
  }

  /** Undoes these groups as far as they are on. @returns The sequence for the terminal. */
  takeBack(modes: readonly ProgramMode[]): string {
    let undo = "";
    for (const one of modes) {
      for (const mode of privateModesOf(one)) {
        if (this.#isChanged(mode)) undo += setPrivate(mode, ON_BY_DEFAULT.has(mode));
        this.#private.delete(mode);
      }
      if (one === "mouse") {
        undo += this.#undoSetting(LOCATOR);
        this.#settings.delete(LOCATOR);
      } else if (one === "keys") {
        undo += this.#undoKeys() + this.#currentKeyboard.undo;
        this.#keys.clear();
        this.#currentKeyboard.clear();
      } else if (one === "screen") {
        undo += this.#undoScreen();
        this.#alternate.clear();
        this.#keyboard.alternate.clear();
      } else if (one === "characters") {
        undo += (this.#ansi.get(INSERT) === true ? `\x1b[${INSERT}l` : "") + this.#undoCharacters();
        this.#ansi.delete(INSERT);
        this.#charsets.clear();
        this.#isShifted = false;
      }
    }
    return undo;
  }

  /** The sequence of mode 12, before or after the cursor's shape: whichever came last decides whether the cursor blinks. */
  get blink(): { readonly text: string; readonly isBeforeShape: boolean } {
    const isOn = this.#private.get(BLINK);
    return { text: isOn === undefined ? "" : setPrivate(BLINK, isOn), isBeforeShape: this.#isShapeLater };
  }

  /**
   * The sequences that restore, in an untouched terminal, how it reports keys and the like, but not how it draws.
   * @param isKept Whether a mode is restored some other way.
   */
  settings(isKept: (mode: number, isPrivate: boolean) => boolean): string {
    let text = "";
    for (const [mode, isOn] of this.#private) {
      const isTold = LEFT_ALONE.has(mode) || isOn !== ON_BY_DEFAULT.has(mode);
      if (isTold && mode !== BLINK && !isKept(mode, true)) text += setPrivate(mode, isOn);
    }
    for (const [mode, isOn] of this.#ansi)
      if (isOn !== (mode === NO_ECHO) && !isKept(mode, false)) text += `\x1b[${mode}${isOn ? "h" : "l"}`;
    return text + (this.#settings.get(LOCATOR) ?? "") + [...this.#keys.values()].join("");
  }

  /** The sequence that restores what {@link resetSequence} has undone, except for drawing. */
  get resumeSequence(): string {
    const screens = [...this.#alternate].map((mode) => setPrivate(mode, true)).join("");
    const { normal, alternate } = this.keyboards;
    const keyboards = screens === "" ? normal : `${normal}${screens}${alternate}`;
    return keyboards + this.settings(() => false);
  }

  /** Kitty's keyboard flags on the screen that is shown. */
  get keyboardFlags(): number {
    return this.#currentKeyboard.flags;
  }

  dropKeyboard(): void {
    this.#currentKeyboard.clear();
  }

  /** The sequences that set kitty's keyboard flags on each screen, while it is shown. */
  get keyboards(): { readonly normal: string; readonly alternate: string } {
    const { normal, alternate } = this.#keyboard;
    return { normal: normal.settings, alternate: alternate.settings };
  }

  #undoSetting(name: string): string {
    return this.#settings.has(name) ? (SETTINGS.get(name)?.undo ?? "") : "";
  }

  /** Returns to the normal screen. The alternate screen's keyboard flags can be undone only while it is shown. */
  #undoScreen(): string {
    const { undo } = this.#keyboard.alternate;
    if (!this.isAlternate) return undo === "" ? "" : `\x1b[?1049h${undo}\x1b[?1049l`;
    this.#cursorRestored();
    const origin = this.#private.get(ORIGIN) === true ? setPrivate(ORIGIN, false) : "";
    return undo + origin + [...this.#alternate].map((mode) => setPrivate(mode, false)).join("");
  }

  #undoCharacters(): string {
    if (!this.#isShifted && this.#charsets.size === 0) return "";
    return `\x0f${[...this.#charsets].map((slot) => `\x1b${slot}B`).join("")}`;
  }

  #undoKeys(): string {
    return [...this.#keys.keys()].map((key) => csiOf(`>${key.slice(0, 1)}`, key.slice(1))).join("");
  }

  /** Restores margins, tab stops and origin mode, which moves the cursor. */
  #undoPlaces(wasAlternate: boolean, cols: number): string {
    const hasOrigin = this.#private.get(ORIGIN) === true && !wasAlternate;
    const tabs = `\r\x1b[3g${`\x1b[${TAB_WIDTH}C\x1bH`.repeat((Math.min(cols, MAX_COLS) - 1) / TAB_WIDTH)}`;
    const undo = (this.#hasRegion ? "\x1b[r" : "") + (this.#hasTabs ? tabs : "");
    // Restoring a saved cursor would restore the mode too. The last row is the one place where nothing is overwritten.
    if (hasOrigin) return `${setPrivate(ORIGIN, false)}${undo}\x1b[9999H`;
    return undo === "" ? "" : `\x1b7${undo}\x1b8`;
  }

  // ---- Following ------------------------------------------------------------------------------------------------

  get #currentKeyboard(): KeyboardStack {
    return this.isAlternate ? this.#keyboard.alternate : this.#keyboard.normal;
  }

  #isChanged(mode: number): boolean {
    const usual = ON_BY_DEFAULT.has(mode);
    return (this.#private.get(mode) ?? usual) !== usual;
  }

  #osc(text: string, isWhole: boolean): void {
    const [, number = "", rest = ""] = /^(\d{1,4})(?:;(.*))?$/s.exec(text) ?? [];
    const id = Number(number);
    if (number === "" || this.#colours.follow(id, rest, isWhole)) return;
    if (id === 0 || id === 2) this.#title = utf8Of(rest);
    else if (id === 8) this.#isLinkOpen = /^[^;]*;./s.test(rest);
    else if (id === 9 && rest.startsWith("4;")) this.#hasProgress = !/^4;0?(;|$)/.test(rest);
  }

  #setPrivate(mode: number, isOn: boolean): void {
    if (ALTERNATE_SCREENS.includes(mode)) {
      if (isOn) this.#alternate.add(mode);
      else this.#alternate.clear(); // There is one alternate screen, whichever mode leaves it.
    }
    if (!isOn && SAVED_CURSORS.includes(mode)) this.#cursorRestored();
    if (ALTERNATE_SCREENS.includes(mode) || SAVED_CURSORS.includes(mode) || Number.isNaN(mode)) return;
    if (mode === BLINK) this.#isShapeLater = false;
    if (isOn === ON_BY_DEFAULT.has(mode) && mode !== BLINK && !LEFT_ALONE.has(mode)) this.#private.delete(mode);
    else if (this.#private.size < MAX_MODES) this.#private.set(mode, isOn);
  }

  /** The restored pen and character sets are unknown: assume any that was ever set. */
  #cursorRestored(): void {
    for (const name of this.#everSet) {
      if (SAVED_SETTINGS.includes(name)) this.#settings.set(name, "");
      if (!CHARSETS.has(name)) continue;
      this.#isShifted = true;
      this.#charsets.add(name);
    }
  }

  /** XTMODKEYS, XTFMTKEYS, and `CSI > n`, which disables the first. */
  #setKeys(name: string, params: string): void {
    const [resource = "", value = ""] = params.split(";");
    const kind = name === ">f" ? "f" : "m";
    const isUsual = name !== ">n" && (value === "" || (resource === "4" && value === "0"));
    if (resource === "") for (const key of [...this.#keys.keys()]) if (key.startsWith(kind)) this.#keys.delete(key);
    if (!/^\d$/.test(resource)) return;
    if (isUsual) this.#keys.delete(kind + resource);
    else this.#keys.set(kind + resource, csiOf(name, params));
  }

  #setKeyboard(name: string, params: string): void {
    const [first = 0, how = 1] = numbersOf(params);
    const stack = this.#currentKeyboard;
    if (name === "=u") stack.change(first, how);
    else if (name === ">u") stack.push(first);
    else stack.pop(Math.max(1, first));
  }

  /** A full reset. Keeps the title and the colours, and what xterm.js keeps: cursor visibility and blinking, and LNM. */
  #clear(): void {
    const cursor = [CURSOR, BLINK].map((mode) => [mode, this.#private.get(mode)] as const);
    const newline = this.#ansi.get(NEWLINE);
    for (const kept of [this.#private, this.#ansi, this.#alternate, this.#settings, this.#everSet]) kept.clear();
    for (const kept of [this.#charsets, this.#keys, this.#keyboard.normal, this.#keyboard.alternate]) kept.clear();
    if (newline !== undefined) this.#ansi.set(NEWLINE, newline);
    for (const [mode, isOn] of cursor) if (isOn !== undefined) this.#private.set(mode, isOn);
    this.#isShifted = false;
    this.#hasRegion = false;
    this.#hasTabs = false;
    this.#hasCoding = false;
    this.#hasShortControls = false;
    this.#isLinkOpen = false;
  }
}

function privateModesOf(one: ProgramMode): readonly number[] {
  return PRIVATE_PROGRAM_MODES.get(one) ?? [];
}

/** Uses DECKPAM for the keypad: not every terminal that knows it knows mode 66, such as tmux. */
function setPrivate(mode: number, isOn: boolean): string {
  if (mode === KEYPAD) return isOn ? "\x1b=" : "\x1b>";
  return `\x1b[?${mode}${isOn ? "h" : "l"}`;
}

function isToUndo(mode: number, isOn: boolean): boolean {
  if (mode === ORIGIN || mode === VT52 || LEFT_ALONE.has(mode)) return false;
  return isOn !== ON_BY_DEFAULT.has(mode);
}

/** @param name Marker, intermediates and final byte. */
function csiOf(name: string, params: string): string {
  const marker = /^[<-?]/.exec(name)?.[0] ?? "";
  return `\x1b[${marker}${params}${name.slice(marker.length)}`;
}

function numbersOf(params: string): number[] {
  return params.split(/[;:]/).map(Number);
}

function utf8Of(text: string): string {
  return decodeUtf8(fromLatin1(text));
}
