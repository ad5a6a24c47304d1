// A person's preferences, as JSON in this browser and, for a logged-in person, on the server (preferences-remote.ts). The same JSON can be
// exported. An unreadable value counts as the default.

import type { PredictionMode } from "sandbox-stdio/core";
import { type OwnKeys, readOwnKeys } from "../keys/own-keys.ts";
import { DEFAULT_LINE_HEIGHT } from "../terminal/terminal-look.ts";
import { COLOUR_NAMES, type Colours, readColour, type ThemeFile } from "../terminal/theme-import.ts";

export type Preferences = {
  /** Screen reader mode. */
  readonly isReader: boolean;
  /** Whether the browser asks before closing a page whose person typed into a running process. */
  readonly warnsOnClose: boolean;
  readonly scheme: "system" | "light" | "dark" | "contrast";
  /** An imported theme over the scheme's colours. */
  readonly theme: ThemeFile | undefined;
  /** As in CSS; "" for the default. */
  readonly fontFamily: string;
  /** In pixels. */
  readonly fontSize: number;
  /** Factor of the font's own. */
  readonly lineHeight: number;
  /** Lines that are kept above the screen. */
  readonly scrollback: number;
  readonly hasLigatures: boolean;
  /** Whether Option on a Mac is Alt for programs, and makes no characters. */
  readonly isOptionMeta: boolean;
  readonly cursorStyle: "block" | "bar" | "underline";
  readonly cursorBlinks: boolean;
  /** Effects of a bell; notifications only while the page is in the background. */
  readonly bellSounds: boolean;
  readonly bellFlashes: boolean;
  readonly bellNotifies: boolean;
  /** Notifications of programs and finished commands while the page is in the background. */
  readonly programsNotify: boolean;
  readonly prediction: PredictionMode;
  /** Keys of commands that are not the usual ones. */
  readonly keys: OwnKeys;
};

export const DEFAULT_PREFERENCES: Preferences = {
  isReader: false,
  warnsOnClose: true,
  scheme: "system",
  theme: undefined,
  fontFamily: "",
  fontSize: 14,
  lineHeight: DEFAULT_LINE_HEIGHT,
  scrollback: 10_000,
  hasLigatures: false,
  isOptionMeta: false,
  cursorStyle: "block",
  cursorBlinks: true,
  bellSounds: false,
  bellFlashes: true,
  bellNotifies: false,
  programsNotify: false,
  prediction: "auto",
  keys: {},
};

export const FONT_SIZES = { min: 6, max: 40 } as const;
export const LINE_HEIGHTS = { min: 1, max: 2 } as const;
export const SCROLLBACKS = { min: 1_000, max: 100_000 } as const;
const MAX_FAMILY = 200;
const NAME = "sbx.preferences";
/** Marks a file of exported preferences. */
const FORMAT = "sbx-stdio preferences";
const MAX_FILE_LENGTH = 100_000;

/** Reads each value; undefined if it is invalid. */
const READERS: { readonly [Name in keyof Preferences]: (value: unknown) => Preferences[Name] | undefined } = {
  isReader: flag,
  warnsOnClose: flag,
  scheme: oneOf("system", "light", "dark", "contrast"),
  theme: readKeptTheme,
  fontFamily: readFamily,
  fontSize: within(FONT_SIZES),
  lineHeight: within(LINE_HEIGHTS),
  scrollback: within(SCROLLBACKS),
  hasLigatures: flag,
  isOptionMeta: flag,
  cursorStyle: oneOf("block", "bar", "underline"),
  cursorBlinks: flag,
  bellSounds: flag,
  bellFlashes: flag,
  bellNotifies: flag,
  programsNotify: flag,
  prediction: oneOf("never", "auto", "always"),
  keys: readOwnKeys,
};

export class PreferenceStore {
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | undefined;
  readonly #listeners = new Set<() => void>();
  #preferences: Preferences;
  /** Called when the person changes a preference on this page. */
  onSet: () => void = () => undefined;

  /** @param storage localStorage, or undefined if blocked: preferences then last as long as the page. */
  constructor(storage: Pick<Storage, "getItem" | "setItem"> | undefined) {
    this.#storage = storage;
    this.#preferences = readPreferences(parse(storage?.getItem(NAME) ?? "{}"));
  }

  /** The same object until something changes. */
  readonly get = (): Preferences => this.#preferences;

  /** @returns Unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(change: Partial<Preferences>): void {
    // Validate as if read.
    this.take({ ...this.#preferences, ...change });
    this.onSet();
  }

  /** Replaces all preferences. @param kept Unreadable values become defaults. */
  take(kept: unknown): void {
    this.#preferences = readPreferences(kept);
    this.#storage?.setItem(NAME, JSON.stringify(this.#preferences));
    this.#notify();
  }

  /** Another page of this browser changed them. */
  changedElsewhere(name: string | null, text: string | null): void {
    if (name !== NAME) return;
    this.#preferences = readPreferences(parse(text ?? "{}"));
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** The content of an export file. */
export function exportPreferences(preferences: Preferences): string {
  return `${JSON.stringify({ format: FORMAT, ...preferences }, undefined, 2)}\n`;
}

/** @returns The preferences of an export file; undefined if it is none. */
export function importPreferences(text: string): Preferences | undefined {
  const parsed = text.length > MAX_FILE_LENGTH ? undefined : parse(text);
  return fieldOf(parsed, "format") === FORMAT ? readPreferences(parsed) : undefined;
}

function readPreferences(kept: unknown): Preferences {
  const names = Object.keys(READERS) as (keyof Preferences)[];
  const entries = names.map((name) => [name, READERS[name](fieldOf(kept, name)) ?? DEFAULT_PREFERENCES[name]]);
  // Each value was read by its own reader.
  return Object.fromEntries(entries) as Preferences;
}

function readKeptTheme(value: unknown): ThemeFile | undefined {
  const name = fieldOf(value, "name");
  const kept = fieldOf(value, "colours");
  if (typeof name !== "string") return undefined;
  const colours: Colours = {};
  for (const each of COLOUR_NAMES) {
    const colour = fieldOf(kept, each);
    const read = typeof colour === "string" ? readColour(colour) : undefined;
    if (read !== undefined) colours[each] = read;
  }
  return Object.keys(colours).length === 0 ? undefined : { name: name.slice(0, 80), colours };
}

/** Font names and no other CSS: the DOM renderer writes them into a style sheet. */
function readFamily(value: unknown): string | undefined {
  const isNames = typeof value === "string" && value.length <= MAX_FAMILY && /^[\p{L}\d .,'"_-]*$/u.test(value);
  return isNames && hasEvenQuotes(value) ? value : undefined;
}

function hasEvenQuotes(text: string): boolean {
  return text.replaceAll(/"[^"']*"|'[^"']*'/g, "").search(/["']/) === -1;
}

function flag(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

function within({ min, max }: { readonly min: number; readonly max: number }) {
  return (value: unknown) => (typeof value === "number" && value >= min && value <= max ? value : undefined);
}

function oneOf<Choice extends string>(...choices: readonly Choice[]): (value: unknown) => Choice | undefined {
  return (value) => choices.find((choice) => choice === value);
}

function fieldOf(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null && Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Invalid, or of another version.
    return undefined;
  }
}

/** localStorage, if the browser allows it. */
export function localStorageIfAllowed(): Storage | undefined {
  try {
    return window.localStorage;
  } catch {
    // SecurityError: storage is blocked for this site.
    return undefined;
  }
}
