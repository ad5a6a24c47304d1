// The look of one terminal of xterm.js: colours that follow the system where they shall, type, and a grey cursor where
// nothing can be typed. No React.

import type { FontWeight, ITheme, Terminal } from "@xterm/xterm";
import { changeTheme } from "./change-theme.ts";
import { ligaturesIn } from "./ligatures.ts";
import { FONT_FAMILY, READ_ONLY_CURSORS, type Scheme, THEMES } from "./theme.ts";

export type Font = {
  /** As in CSS; the common monospace faces stand behind it. */
  readonly family?: string;
  /** In pixels; default 14. */
  readonly size?: number;
  /** Times the face's own; default 1. */
  readonly lineHeight?: number;
  /** In pixels; default 0. */
  readonly letterSpacing?: number;
  readonly weight?: FontWeight;
  readonly boldWeight?: FontWeight;
};

export type CursorLook = { readonly style: "block" | "bar" | "underline"; readonly blinks: boolean };

export type Look = {
  /** Default `dark`; `system` follows the browser's preference as it changes. */
  readonly scheme?: Scheme | "system" | undefined;
  /** Colours that differ from the scheme's. */
  readonly theme?: ITheme | undefined;
  readonly font?: Font | undefined;
  /** Default a block that blinks. */
  readonly cursor?: CursorLook | undefined;
  /** Whether characters that a font may draw as one are drawn together. */
  readonly hasLigatures?: boolean | undefined;
};

const USUAL_CURSOR: CursorLook = { style: "block", blinks: true };

/** While a person types, the cursor stands still: what blinks holds a browser to the display's clock, and an echo waits for it. */
const TYPING = "sbx-typing";
const STILL_MS = 1_000;

export class TerminalLook {
  readonly #terminal: Terminal;
  readonly #prefersDark = matchMedia("(prefers-color-scheme: dark)");
  readonly #stopWatching = new AbortController();
  #look: Look;
  #isReadOnly = false;
  /** Of xterm.js's character joiners; undefined: characters are drawn one by one. */
  #joiner: number | undefined;
  #scale = 1;
  #typed: ReturnType<typeof setTimeout> | undefined;

  /** Dresses the terminal at once. */
  constructor(terminal: Terminal, look: Look) {
    this.#terminal = terminal;
    this.#look = look;
    this.#prefersDark.addEventListener("change", () => this.#apply(), { signal: this.#stopWatching.signal });
    const listening = terminal.onData(() => this.#standStill());
    this.#stopWatching.signal.addEventListener("abort", () => listening.dispose());
    this.#apply();
  }

  set look(look: Look) {
    this.#look = look;
    this.#apply();
  }

  set isReadOnly(isReadOnly: boolean) {
    this.#isReadOnly = isReadOnly;
    this.#apply();
  }

  get scale(): number {
    return this.#scale;
  }

  /** Draws the type so many times as large as it was asked for. */
  set scale(scale: number) {
    if (scale === this.#scale) return;
    this.#scale = scale;
    this.#apply();
  }

  dispose(): void {
    this.#stopWatching.abort();
    clearTimeout(this.#typed);
  }

  #standStill(): void {
    const { classList } = this.#terminal.element ?? {};
    classList?.add(TYPING);
    clearTimeout(this.#typed);
    this.#typed = setTimeout(() => classList?.remove(TYPING), STILL_MS);
  }

  #apply(): void {
    const { scheme = "dark", theme, font = {}, cursor = USUAL_CURSOR, hasLigatures = false } = this.#look;
    const actual = scheme === "system" ? (this.#prefersDark.matches ? "dark" : "light") : scheme;
    const cursorColours = this.#isReadOnly ? READ_ONLY_CURSORS[actual] : {};
    changeTheme(this.#terminal, { ...THEMES[actual], ...theme, ...cursorColours });
    const type = {
      fontFamily: font.family === undefined ? FONT_FAMILY : `${font.family}, ${FONT_FAMILY}`,
      fontSize: (font.size ?? 14) * this.#scale,
      lineHeight: font.lineHeight ?? 1,
      letterSpacing: font.letterSpacing ?? 0,
      fontWeight: font.weight ?? "normal",
      fontWeightBold: font.boldWeight ?? "bold",
      cursorStyle: cursor.style,
      // Nothing that blinks asks for keys that can't be typed.
      cursorBlink: cursor.blinks && !this.#isReadOnly,
    } as const;
    this.#joinCharacters(hasLigatures);
    const { options } = this.#terminal;
    const changed = Object.entries(type).filter(([name, value]) => options[name as keyof typeof type] !== value);
    if (changed.length > 0) this.#terminal.options = Object.fromEntries(changed);
  }

  #joinCharacters(isOn: boolean): void {
    if (isOn === (this.#joiner !== undefined)) return;
    if (this.#joiner === undefined) this.#joiner = this.#terminal.registerCharacterJoiner(ligaturesIn);
    else {
      this.#terminal.deregisterCharacterJoiner(this.#joiner);
      this.#joiner = undefined;
    }
  }
}
