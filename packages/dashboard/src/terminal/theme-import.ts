// Imports themes of iTerm2 (.itermcolors) and VS Code. Text in, colours out. Pure.

import type { ITheme } from "@xterm/xterm";
import { defined } from "sandbox-stdio/core";

/** The colours of a file, all `#rrggbb`, selections also `#rrggbbaa`. */
export type Colours = Partial<Record<ColourName, string>>;
export type ColourName = (typeof COLOUR_NAMES)[number];

const ANSI_NAMES = [
  "black",
  "red",
  "green",
  "yellow",
  "blue",
  "magenta",
  "cyan",
  "white",
  "brightBlack",
  "brightRed",
  "brightGreen",
  "brightYellow",
  "brightBlue",
  "brightMagenta",
  "brightCyan",
  "brightWhite",
] as const;

export const COLOUR_NAMES = [
  "background",
  "foreground",
  "cursor",
  "cursorAccent",
  "selectionBackground",
  "selectionForeground",
  ...ANSI_NAMES,
] as const satisfies readonly (keyof ITheme)[];

const ITERM: Readonly<Record<string, ColourName>> = {
  "Background Color": "background",
  "Foreground Color": "foreground",
  "Cursor Color": "cursor",
  "Cursor Text Color": "cursorAccent",
  "Selection Color": "selectionBackground",
  "Selected Text Color": "selectionForeground",
  ...Object.fromEntries(ANSI_NAMES.map((name, index) => [`Ansi ${index} Color`, name])),
};

/** An unterminated entry matches to the end of the text; otherwise each of many beginnings would be searched that far. */
const ITERM_ENTRY = /<key>([^<]{1,80})<\/key>\s*<dict>([\s\S]*?)(?:<\/dict>|$)/g;
const ITERM_PARTS = ["Red", "Green", "Blue"].map(
  (part) => new RegExp(`<key>${part} Component</key>\\s*<(?:real|integer)>([\\d.eE+-]+)<`),
);

/** VS Code's names, preferred first. */
const VS_CODE: Readonly<Record<string, readonly string[]>> = {
  background: ["terminal.background", "editor.background"],
  foreground: ["terminal.foreground", "editor.foreground"],
  cursor: ["terminalCursor.foreground", "editorCursor.foreground"],
  cursorAccent: ["terminalCursor.background"],
  selectionBackground: ["terminal.selectionBackground", "editor.selectionBackground"],
  selectionForeground: ["terminal.selectionForeground"],
  ...Object.fromEntries(
    ANSI_NAMES.map((name) => [name, [`terminal.ansi${name.charAt(0).toUpperCase()}${name.slice(1)}`]]),
  ),
};

/** Theme files have some KiB. */
export const MAX_THEME_LENGTH = 1_000_000;

export type ThemeFile = { readonly name: string; readonly colours: Colours };

/** @returns undefined if the text is no theme, or has no terminal colours. */
export function readTheme(fileName: string, text: string): ThemeFile | undefined {
  if (text.length > MAX_THEME_LENGTH) return undefined;
  const fromName = fileName.replace(/\.[a-z\d-]+$/i, "");
  const found = text.trimStart().startsWith("<") ? readIterm(text) : readVsCode(text);
  if (found === undefined || Object.keys(found.colours).length === 0) return undefined;
  return { name: (found.name ?? fromName).slice(0, 80), colours: found.colours };
}

type Read = { readonly name?: string; readonly colours: Colours };

/** A property list of colours with components from 0 to 1. */
function readIterm(text: string): Read {
  const colours: Colours = {};
  for (const [, key = "", dict = ""] of text.matchAll(ITERM_ENTRY)) {
    const name = Object.hasOwn(ITERM, key) ? ITERM[key] : undefined;
    if (name === undefined) continue;
    const parts = ITERM_PARTS.map((part) => {
      const value = part.exec(dict)?.[1];
      return Math.round(Math.min(1, Math.max(0, Number(value))) * 255);
    });
    if (parts.some(Number.isNaN)) continue;
    colours[name] = `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  }
  return { colours };
}

function readVsCode(text: string): Read | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(withoutComments(text));
  } catch {
    // Not JSON, even with comments.
    return undefined;
  }
  const from = field(parsed, "colors");
  const colours: Colours = {};
  for (const name of COLOUR_NAMES) {
    const values = (VS_CODE[name] ?? []).map((each) => field(from, each));
    const colour = values.find((each) => each !== undefined && each !== null);
    const read = typeof colour === "string" ? readColour(colour) : undefined;
    if (read !== undefined) colours[name] = read;
  }
  const name = field(parsed, "name");
  return { ...defined({ name: typeof name === "string" && name !== "" ? name : undefined }), colours };
}

/** @returns `#rrggbb` or `#rrggbbaa`; undefined if invalid. */
export function readColour(text: string): string | undefined {
  const hex = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.exec(text)?.[1]?.toLowerCase();
  if (hex === undefined) return undefined;
  return `#${hex.length < 6 ? [...hex].map((digit) => digit + digit).join("") : hex}`;
}

/**
 * JSON with comments and trailing commas, as editors write it. Unterminated strings and comments match to the end of the text; otherwise
 * each of a million beginnings would be searched that far.
 */
function withoutComments(text: string): string {
  const plain = text.replace(
    /("(?:[^"\\]|\\[\s\S])*"?)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g,
    (_, string: string | undefined) => string ?? "",
  );
  return plain.replace(/("(?:[^"\\]|\\[\s\S])*"?)|,(?=\s*[}\]])/g, (_, string: string | undefined) => string ?? "");
}

function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null && Object.hasOwn(of, name) ? Reflect.get(of, name) : undefined;
}
