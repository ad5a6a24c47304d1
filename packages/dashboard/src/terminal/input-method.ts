// Handles input methods, and text that comes without a key, in place of xterm.js. It guesses text from its field, loses or doubles letters,
// and sends nothing for keys that an input method has processed (keyCode 229), nor text without a key for users of screen readers.

import type { IDisposable, Terminal } from "@xterm/xterm";

/** keyCode of every key that an input method has processed, whether it used it or not. */
const PROCESSED = 229;
/** Keys without text, and their keyCodes. */
const NAMED: Readonly<Record<string, number>> = {
  ...{ Backspace: 8, Tab: 9, Enter: 13, Escape: 27, PageUp: 33, PageDown: 34, End: 35, Home: 36 },
  ...{ ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Insert: 45, Delete: 46 },
  ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`F${index + 1}`, 112 + index])),
};
/** Keys that have a meaning with Ctrl, by their physical position. */
const POSITIONS: Readonly<Record<string, number>> = {
  ...{ Space: 32, BracketLeft: 219, Backslash: 220, BracketRight: 221, Minus: 189 },
  ...Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [`Digit${digit}`, 48 + digit])),
};
const MODIFIERS: ReadonlySet<string> = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"]);

export type PressedKey = Pick<KeyboardEvent, "key" | "code" | "ctrlKey" | "altKey" | "metaKey">;

/**
 * The keyCode for the terminal of a key that an input method has processed; undefined: its text comes by itself. If the method hides the
 * key ("Process"), its physical position tells.
 */
function keyCodeOf({ key, code, ctrlKey, altKey, metaKey }: PressedKey): number | undefined {
  if (Object.hasOwn(NAMED, key)) return NAMED[key];
  if (code === "Escape") return NAMED.Escape;
  // Ctrl with Alt is AltGr on many keyboards, which types characters.
  if (!ctrlKey || altKey || metaKey) return undefined;
  const letter = /^[a-z]$/i.test(key) ? key : /^Key([A-Z])$/.exec(code)?.[1];
  if (letter !== undefined) return letter.toUpperCase().charCodeAt(0);
  return Object.hasOwn(POSITIONS, code) ? POSITIONS[code] : undefined;
}

export class InputMethod implements IDisposable {
  readonly #terminal: Terminal;
  readonly #element: HTMLElement;
  readonly #leaving = new AbortController();
  /** Uncommitted text; undefined without a composition. */
  #composed: string | undefined;
  /** The part that was sent early, because a key for the terminal came. */
  #sent = "";
  /** When the last composition ended. WebKit reports the key that ended it only afterwards, with the time at which it was pressed. */
  #endedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the last key was left to the method, whose text follows. */
  #isLeft = false;
  /** Whether the text that comes next is that of a key, which xterm.js sends. */
  #isOfKey = false;

  /** @param terminal Already opened. Its owner calls {@link key} for each key. */
  constructor(terminal: Terminal) {
    const { element } = terminal;
    if (element === undefined) throw new TypeError("Cannot write into a terminal that is not open");
    this.#terminal = terminal;
    this.#element = element;
    // In the capture phase, before xterm.js's handlers at the field.
    const options = { capture: true, signal: this.#leaving.signal };
    element.addEventListener("compositionstart", (event) => this.#compose(event, ""), options);
    element.addEventListener("compositionupdate", (event) => this.#compose(event, event.data), options);
    element.addEventListener("compositionend", (event) => this.#commit(event), options);
    element.addEventListener("input", (event) => this.#write(event as InputEvent), options);
    // The browser inserts a key's text right after its keypress.
    const expectsText = ({ type }: Event) => {
      this.#isOfKey = type === "keypress";
    };
    for (const type of ["keydown", "keypress", "keyup"]) element.addEventListener(type, expectsText, options);
  }

  dispose(): void {
    this.#leaving.abort();
  }

  /** @returns Whether xterm.js should handle the key. */
  key(event: KeyboardEvent): boolean {
    if (event.type === "keypress") return !this.#isLeft;
    if (event.type !== "keydown") return true;
    if (event.keyCode !== PROCESSED) {
      if (!MODIFIERS.has(event.key)) {
        this.#isLeft = false;
        this.#sendComposed();
      }
      return true;
    }
    this.#isLeft = true;
    const hasEndedComposition = event.timeStamp <= this.#endedAtMs;
    if (event.isComposing || this.#composed !== undefined || hasEndedComposition) return false;
    const keyCode = keyCodeOf(event);
    if (keyCode === undefined) return false;
    event.preventDefault();
    event.stopPropagation();
    event.target?.dispatchEvent(asPressed(event, keyCode));
    return false;
  }

  /** Sends the uncommitted text before a key that the method does not use. */
  #sendComposed(): void {
    if (this.#composed === undefined) return;
    this.#send(this.#unsent(this.#composed));
    this.#sent = this.#composed;
    this.#composed = undefined;
    this.#show(undefined);
  }

  #unsent(text: string): string {
    return text.startsWith(this.#sent) ? text.slice(this.#sent.length) : text;
  }

  #compose(event: CompositionEvent, text: string): void {
    event.stopPropagation();
    if (event.type === "compositionstart") this.#sent = "";
    this.#composed = text;
    this.#show(this.#unsent(text));
  }

  #commit(event: CompositionEvent): void {
    event.stopPropagation();
    this.#composed = undefined;
    this.#show(undefined);
    this.#send(this.#unsent(event.data));
    this.#sent = "";
    this.#endedAtMs = event.timeStamp;
  }

  #write(event: InputEvent): void {
    const { inputType, data, isComposing } = event;
    const isOfKey = this.#isOfKey;
    this.#isOfKey = false;
    // Compositions are sent at their end; xterm.js ignores these events.
    if (isComposing || inputType.includes("Composition")) return;
    // Emoji, dictation and touch keyboards need no key for their text.
    if (!this.#isLeft && (isOfKey || inputType !== "insertText")) return;
    event.stopPropagation();
    if (inputType === "insertText") this.#send(data ?? "");
    else if (inputType === "insertLineBreak") this.#send("\r");
    else if (inputType === "deleteContentBackward") this.#send("\x7f");
  }

  #send(text: string): void {
    if (text !== "") this.#terminal.input(text);
  }

  /** Shows uncommitted text at the cursor. @param text undefined hides it. */
  #show(text: string | undefined): void {
    const view = this.#element.querySelector<HTMLElement>(".composition-view");
    const screen = this.#element.querySelector<HTMLElement>(".xterm-screen");
    if (view === null || screen === null) return;
    view.classList.toggle("active", text !== undefined);
    view.textContent = text ?? "";
    const { cols, rows, options, buffer } = this.#terminal;
    const { cursorX, cursorY, baseY, viewportY } = buffer.active;
    const [width, height] = [screen.clientWidth / cols, screen.clientHeight / rows];
    Object.assign(view.style, {
      left: `${Math.min(cursorX, cols - 1) * width}px`,
      top: `${(cursorY + baseY - viewportY) * height}px`,
      height: `${height}px`,
      lineHeight: `${height}px`,
      fontFamily: options.fontFamily,
      fontSize: `${options.fontSize}px`,
    });
  }
}

function asPressed(event: KeyboardEvent, keyCode: number): KeyboardEvent {
  const { key, code, location, ctrlKey, altKey, shiftKey, metaKey, repeat } = event;
  const named = Object.entries(NAMED).find(([, of]) => of === keyCode)?.[0];
  const written = named ?? (/^[!-~]$/.test(key) ? key : String.fromCharCode(keyCode).toLowerCase());
  const modifiers = { ctrlKey, altKey, shiftKey, metaKey };
  const init = { key: keyCode === POSITIONS.Space ? " " : written, code, keyCode, location, repeat, ...modifiers };
  return new KeyboardEvent("keydown", { ...init, bubbles: true, cancelable: true, composed: true });
}
