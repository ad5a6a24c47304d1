// The look of one terminal: colours that may follow the system, font and cursor, which is grey if nothing can be typed. No React.

import type { FontWeight, ITheme, Terminal } from "@xterm/xterm";
import { changeTheme } from "./change-theme.ts";
import { ligaturesIn } from "./ligatures.ts";
import {
  DEFAULT_SCROLLBACK,
  FONT_FAMILY,
  PREFERS_CONTRAST,
  READ_ONLY_CURSORS,
  type Scheme,
  schemeUnder,
  THEMES,
} from "./theme.ts";

export type Font = {
  /** As in CSS, before the common monospace fonts. */
  readonly family?: string;
  /** Pixels; default 14. */
  readonly size?: number;
  /** Factor of the font's own; default 1.1. */
  readonly lineHeight?: number;
  /** Pixels; default 0. */
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
  /** Whether to draw ligatures. */
  readonly hasLigatures?: boolean | undefined;
  /** Whether Option on a Mac is a modifier for programs. */
  readonly isOptionMeta?: boolean | undefined;
  /** Lines above the screen. */
  readonly scrollback?: number | undefined;
};

/** With 1, fonts such as DejaVu Sans Mono draw the underscore below their own row, where nothing is seen without a GPU. */
export const DEFAULT_LINE_HEIGHT = 1.1;

const DEFAULT_CURSOR: CursorLook = { style: "block", blinks: true };

/** Class that stops the cursor's animation while typing: animations tie painting to the display's clock, which delays the echo. */
const TYPING = "sbx-typing";
const STILL_MS = 1_000;

export class TerminalLook {
  readonly #terminal: Terminal;
  readonly #prefersDark = matchMedia("(prefers-color-scheme: dark)");
  readonly #prefersContrast = matchMedia(PREFERS_CONTRAST);
  readonly #prefersStillness = matchMedia("(prefers-reduced-motion: reduce)");
  readonly #stopWatching = new AbortController();
  #look: Look;
  #isReadOnly = false;
  /** Id of the character joiner; undefined without ligatures. */
  #joiner: number | undefined;
  #scale = 1;
  #typingTimer: ReturnType<typeof setTimeout> | undefined;

  /** Applies the look at once. */
  constructor(terminal: Terminal, look: Look) {
    this.#terminal = terminal;
    this.#look = look;
    for (const preference of [this.#prefersDark, this.#prefersContrast, this.#prefersStillness]) {
      preference.addEventListener("change", () => this.#apply(), { signal: this.#stopWatching.signal });
    }
    const listening = terminal.onData(() => this.#pauseBlinking());
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

  /** Factor of the font size. */
  set scale(scale: number) {
    if (scale === this.#scale) return;
    this.#scale = scale;
    this.#apply();
  }

  dispose(): void {
    this.#stopWatching.abort();
    clearTimeout(this.#typingTimer);
  }

  #pauseBlinking(): void {
    const { classList } = this.#terminal.element ?? {};
    classList?.add(TYPING);
    clearTimeout(this.#typingTimer);
    this.#typingTimer = setTimeout(() => classList?.remove(TYPING), STILL_MS);
  }

  #apply(): void {
    const { scheme = "dark", theme, font = {}, cursor = DEFAULT_CURSOR, hasLigatures = false, scrollback } = this.#look;
    const system = this.#prefersContrast.matches ? "contrast" : this.#prefersDark.matches ? "dark" : "light";
    const actual = schemeUnder(theme, scheme === "system" ? system : scheme);
    const cursorColours = this.#isReadOnly ? READ_ONLY_CURSORS[actual] : undefined;
    const colours = { ...THEMES[actual], ...theme, ...cursorColours };
    // Marks stand in the scroll bar without a line beside them, which would cut letters that are below it.
    changeTheme(this.#terminal, { ...colours, overviewRulerBorder: "#00000000" });
    const type = {
      fontFamily: font.family === undefined ? FONT_FAMILY : `${font.family}, ${FONT_FAMILY}`,
      fontSize: (font.size ?? 14) * this.#scale,
      lineHeight: font.lineHeight ?? DEFAULT_LINE_HEIGHT,
      letterSpacing: font.letterSpacing ?? 0,
      fontWeight: font.weight ?? "normal",
      fontWeightBold: font.boldWeight ?? "bold",
      scrollback: scrollback ?? DEFAULT_SCROLLBACK,
      macOptionIsMeta: this.#look.isOptionMeta ?? false,
      cursorStyle: cursor.style,
      // A blinking cursor would invite typing.
      cursorBlink: cursor.blinks && !this.#isReadOnly && !this.#prefersStillness.matches,
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
