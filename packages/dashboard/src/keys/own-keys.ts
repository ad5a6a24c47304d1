// Names of keys with their modifiers, as "Ctrl+Shift+F", and the keys that a person has given to commands.

import { createContext, useContext } from "react";

/** By a command's id: its keys, separated by ", "; "" for none. Commands that are not there have their usual keys. */
export type OwnKeys = Readonly<Record<string, string>>;

export const OwnKeysContext = createContext<OwnKeys>({});

export const useOwnKeys = () => useContext(OwnKeysContext);

export type Pressed = Pick<KeyboardEvent, "code" | "ctrlKey" | "altKey" | "shiftKey" | "metaKey">;

const SIGNS: Readonly<Record<string, string>> = {
  ...{ ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" },
  ...{ BracketLeft: "[", BracketRight: "]", Slash: "/", Comma: ",", Period: ".", Semicolon: ";" },
  ...{ Quote: "'", Backquote: "`", Backslash: "\\", Minus: "-", Equal: "=" },
};

/** By its place on the keyboard, so that it is the same in each layout. undefined for a modifier alone. */
export function keyNameOf({ code, ctrlKey, altKey, shiftKey, metaKey }: Pressed): string | undefined {
  if (code === "" || /^(?:Control|Alt|Shift|Meta|OS)|Lock$/.test(code)) return undefined;
  const modifiers = [ctrlKey && "Ctrl", altKey && "Alt", shiftKey && "Shift", metaKey && "Meta"].filter(Boolean);
  return [...modifiers, SIGNS[code] ?? code.replace(/^Key|^Digit/, "")].join("+");
}

export const listOfKeys = (keys: string): readonly string[] => (keys === "" ? [] : keys.split(", "));

/** Browsers do not give these to pages. */
const BROWSERS = /^(?:Ctrl\+Shift|Meta|Shift\+Meta)\+(?:[NTWQ]|Tab|Delete)$/;
/** Copying, pasting, and the way out of the terminal. */
const PAGES = /^Ctrl\+Shift\+[CV]$|^Ctrl\+(?:Shift\+)?F6$/;
const NAME = /^(?:(?:Ctrl|Alt|Shift|Meta)\+){2,4}[^\s+]{1,16}$/;

/** Why a key can't be a command's: programs, the browser or the page need it. */
export function refusalOfKey(name: string): "programs" | "browser" | "page" | undefined {
  if (BROWSERS.test(name)) return "browser";
  if (PAGES.test(name)) return "page";
  return NAME.test(name) ? undefined : "programs";
}

/** @returns The valid ones of what was kept; undefined if it is something else. */
export function readOwnKeys(kept: unknown): OwnKeys | undefined {
  if (typeof kept !== "object" || kept === null) return undefined;
  const isValid = ([id, keys]: readonly [string, unknown]) =>
    id.length <= 40 && typeof keys === "string" && listOfKeys(keys).every((key) => refusalOfKey(key) === undefined);
  return Object.fromEntries(Object.entries(kept).slice(0, 100).filter(isValid));
}
