// A person's choices for every page of theirs. Kept as JSON under one name in this browser, for who is logged in also by the server
// (preferences-remote.ts). Taken elsewhere as the same JSON. A choice that can't be read counts as never made.

import type { PredictionMode } from "../terminal/echo-prediction.ts";
import { COLOUR_NAMES, type Colours, readColour, type ThemeFile } from "../terminal/theme-import.ts";

export type Preferences = {
  /** Whether a screen reader follows the output. */
  readonly isReader: boolean;
  /** Whether the browser asks before it closes a page in which a person has typed into a process that still runs. */
  readonly warnsOnClose: boolean;
  readonly scheme: "system" | "light" | "dark" | "contrast";
  /** An imported theme, over the scheme's colours; undefined: none. */
  readonly theme: ThemeFile | undefined;
  /** As in CSS; "" for the usual faces. */
  readonly fontFamily: string;
  /** In pixels. */
  readonly fontSize: number;
  readonly hasLigatures: boolean;
  readonly cursorStyle: "block" | "bar" | "underline";
  readonly cursorBlinks: boolean;
  /** The effect of a bell; a notice comes only while the page is out of sight. */
  readonly bellSounds: boolean;
  readonly bellFlashes: boolean;
  readonly bellNotifies: boolean;
  /** Whether programs, and commands that end, are told as notices of the browser while the page is out of sight. */
  readonly programsNotify: boolean;
  readonly prediction: PredictionMode;
};

export const DEFAULT_PREFERENCES: Preferences = {
  isReader: false,
  warnsOnClose: true,
  scheme: "system",
  theme: undefined,
  fontFamily: "",
  fontSize: 14,
  hasLigatures: false,
  cursorStyle: "block",
  cursorBlinks: true,
  bellSounds: false,
  bellFlashes: true,
  bellNotifies: false,
  programsNotify: false,
  prediction: "never",
};

export const FONT_SIZES = { min: 6, max: 40 } as const;
const MAX_FAMILY = 200;
const NAME = "sbx.preferences";
/** The format's name in a file of exported preferences. */
const FORMAT = "sbx-stdio preferences";
const MAX_FILE_LENGTH = 100_000;

/** Each reads its own value; undefined: it is none. */
const READERS: { readonly [Name in keyof Preferences]: (value: unknown) => Preferences[Name] | undefined } = {
  isReader: flag,
  warnsOnClose: flag,
  scheme: oneOf("system", "light", "dark", "contrast"),
  theme: readKeptTheme,
  fontFamily: readFamily,
  fontSize: (value) =>
    typeof value === "number" && value >= FONT_SIZES.min && value <= FONT_SIZES.max ? value : undefined,
  hasLigatures: flag,
  cursorStyle: oneOf("block", "bar", "underline"),
  cursorBlinks: flag,
  bellSounds: flag,
  bellFlashes: flag,
  bellNotifies: flag,
  programsNotify: flag,
  prediction: oneOf("never", "auto", "always"),
};

export class PreferenceStore {
  readonly #storage: Pick<Storage, "getItem" | "setItem"> | undefined;
  readonly #listeners = new Set<() => void>();
  #preferences: Preferences;
  /** Called when a person has chosen something on this page. */
  onSet: () => void = () => undefined;

  /** @param storage localStorage, or undefined where the browser refuses it: then they last as long as the page. */
  constructor(storage: Pick<Storage, "getItem" | "setItem"> | undefined) {
    this.#storage = storage;
    this.#preferences = readPreferences(parse(storage?.getItem(NAME) ?? "{}"));
  }

  /** The same object until something changes. */
  readonly get = (): Preferences => this.#preferences;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  set(change: Partial<Preferences>): void {
    // Preferences set by hand pass the same checks as those that are read.
    this.take({ ...this.#preferences, ...change });
    this.onSet();
  }

  /** @param kept Read as a file would be: a choice that can't be read is as if it had never been made. */
  take(kept: unknown): void {
    this.#preferences = readPreferences(kept);
    this.#storage?.setItem(NAME, JSON.stringify(this.#preferences));
    this.#tell();
  }

  /** Another page of this browser has changed them. */
  changedElsewhere(name: string | null, text: string | null): void {
    if (name !== NAME) return;
    this.#preferences = readPreferences(parse(text ?? "{}"));
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** As a file to take along. */
export function exportPreferences(preferences: Preferences): string {
  return `${JSON.stringify({ format: FORMAT, ...preferences }, undefined, 2)}\n`;
}

/** @returns A file's preferences, with defaults for missing ones; undefined if it is no such file. */
export function importPreferences(text: string): Preferences | undefined {
  const parsed = text.length > MAX_FILE_LENGTH ? undefined : parse(text);
  return fieldOf(parsed, "format") === FORMAT ? readPreferences(parsed) : undefined;
}

function readPreferences(kept: unknown): Preferences {
  const names = Object.keys(READERS) as (keyof Preferences)[];
  const entries = names.map((name) => [name, READERS[name](fieldOf(kept, name)) ?? DEFAULT_PREFERENCES[name]]);
  // Each has been read by its own reader.
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

/** Names of faces and no more CSS: the DOM renderer writes them into a style sheet. */
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
    // Not ours, or of another version.
    return undefined;
  }
}

/** localStorage, where the browser lets a page have it. */
export function localStorageIfAllowed(): Storage | undefined {
  try {
    return window.localStorage;
  } catch {
    // SecurityError: storage is blocked for this site.
    return undefined;
  }
}
