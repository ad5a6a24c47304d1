// Commands of a terminal and their keys, which don't go to the process. Pure.

import { keyNameOf, listOfKeys, type OwnKeys, type Pressed } from "../keys/own-keys.ts";

const KEYS = {
  search: "Ctrl+Shift+F",
  "previous-command": "Ctrl+Shift+↑",
  "next-command": "Ctrl+Shift+↓",
  "copy-output": "Ctrl+Shift+Y",
  "to-bottom": "Ctrl+Shift+End",
  latency: "Ctrl+Shift+L",
} as const;

export type Shortcut = keyof typeof KEYS;

export const SHORTCUTS = Object.keys(KEYS) as readonly Shortcut[];

export const SETTINGS_KEY = "Ctrl+Shift+,";

export const keysOfShortcut = (shortcut: Shortcut, own: OwnKeys): string =>
  own[`terminal ${shortcut}`] ?? KEYS[shortcut];

/** The key's shortcut; undefined if it goes to the process. */
export function shortcutOf(pressed: Pressed, own: OwnKeys = {}): Shortcut | "settings" | undefined {
  const key = keyNameOf(pressed);
  if (key === undefined) return undefined;
  if (listOfKeys(own.settings ?? SETTINGS_KEY).includes(key)) return "settings";
  return SHORTCUTS.find((shortcut) => listOfKeys(keysOfShortcut(shortcut, own)).includes(key));
}
