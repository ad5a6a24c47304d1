// The page's commands, and their keys. Ctrl+Shift with a letter means nothing to terminals; Alt+Shift with an arrow does, and is taken
// only if there are other panes. Pure.

import { keyNameOf, listOfKeys, type OwnKeys, type Pressed } from "../keys/own-keys.ts";
import { keysOfShortcut, SETTINGS_KEY, SHORTCUTS, type Shortcut } from "../terminal/terminal-shortcuts.ts";
import type { Direction, Layout } from "./layout.ts";
import { focusOf, neighbourOf } from "./layout.ts";
import {
  closeOthers,
  closeTab,
  equalize,
  focus,
  maximize,
  moveTab,
  moveToOwnTab,
  resizeBy,
  showTab,
  swap,
} from "./layout-edits.ts";

export type WorkspaceCommand =
  | { readonly do: "palette" | "settings" | "keys" | "share" | "rename" | "reopen" }
  /** What the focused pane's terminal does. */
  | { readonly do: "terminal"; readonly shortcut: Shortcut }
  /** Opens a web server of the focused pane's command. */
  | { readonly do: "port"; readonly port: number }
  | { readonly do: "scheme"; readonly scheme: SchemeChoice }
  /** A theme of the gallery. */
  | { readonly do: "theme"; readonly name: string }
  /** Default sandbox: that of the focused pane. */
  | { readonly do: "new"; readonly sandbox?: string; readonly session?: string }
  | { readonly do: "divide"; readonly direction: Direction }
  | { readonly do: "close" | "close-tab" | "close-others" | "end" }
  | { readonly do: "files" | "upload" | "notify" }
  /** The answer to a program that asks for a person in the focused pane. */
  | { readonly do: "ask"; readonly act: "take" | "decline" | "back" }
  | { readonly do: "focus" | "move" | "grow"; readonly direction: Direction }
  | { readonly do: "own-tab" | "maximize" | "equalize" }
  | { readonly do: "paste" | "select-all" | "secret" | "reader" | "log-out" }
  | { readonly do: "zoom"; readonly by: 1 | -1 }
  | { readonly do: "show-tab" | "move-tab"; readonly by: 1 | -1 };

export type SchemeChoice = "system" | "light" | "dark" | "contrast";

const DIRECTIONS: readonly Direction[] = ["left", "right", "up", "down"];
const SCHEMES: readonly SchemeChoice[] = ["system", "light", "dark", "contrast"];

/** But for those that depend on something else, as on the sandboxes. */
export const ALL_COMMANDS: readonly WorkspaceCommand[] = [
  { do: "palette" },
  { do: "new" },
  { do: "divide", direction: "right" },
  { do: "divide", direction: "down" },
  { do: "maximize" },
  { do: "equalize" },
  { do: "files" },
  { do: "upload" },
  { do: "rename" },
  { do: "share" },
  ...SHORTCUTS.map((shortcut): WorkspaceCommand => ({ do: "terminal", shortcut })),
  { do: "paste" },
  { do: "select-all" },
  { do: "secret" },
  { do: "reader" },
  ...(["take", "decline", "back"] as const).map((act): WorkspaceCommand => ({ do: "ask", act })),
  { do: "notify" },
  { do: "settings" },
  { do: "keys" },
  ...SCHEMES.map((scheme): WorkspaceCommand => ({ do: "scheme", scheme })),
  { do: "zoom", by: 1 },
  { do: "zoom", by: -1 },
  { do: "log-out" },
  { do: "close" },
  { do: "close-tab" },
  { do: "close-others" },
  { do: "end" },
  { do: "reopen" },
  { do: "own-tab" },
  { do: "show-tab", by: 1 },
  { do: "show-tab", by: -1 },
  { do: "move-tab", by: 1 },
  { do: "move-tab", by: -1 },
  ...(["focus", "move", "grow"] as const).flatMap((what) =>
    DIRECTIONS.map((direction): WorkspaceCommand => ({ do: what, direction })),
  ),
];

/** Usual keys, by the command's id. */
const KEYS: OwnKeys = {
  // Firefox keeps Ctrl+Shift+P for itself.
  palette: navigator.userAgent.includes("Firefox") ? "Ctrl+Shift+K" : "Ctrl+Shift+P",
  settings: SETTINGS_KEY,
  "divide right": "Ctrl+Shift+D",
  "divide down": "Ctrl+Shift+E",
  maximize: "Ctrl+Shift+M",
  close: "Ctrl+Shift+X",
  reopen: "Ctrl+Shift+Z",
  keys: "Ctrl+Shift+/",
  "focus left": "Alt+Shift+←",
  "focus right": "Alt+Shift+→",
  "focus up": "Alt+Shift+↑",
  "focus down": "Alt+Shift+↓",
  "show-tab -1": "Ctrl+Shift+[",
  "show-tab 1": "Ctrl+Shift+]",
};

/** Names a command among the keys that are kept. */
export const idOfCommand = (command: WorkspaceCommand): string => Object.values(command).join(" ");

/** A command's keys as people write them; "" if it has none. */
export function keysOfCommand(command: WorkspaceCommand, own: OwnKeys): string {
  if (command.do === "terminal") return keysOfShortcut(command.shortcut, own);
  const id = idOfCommand(command);
  return own[id] ?? KEYS[id] ?? "";
}

export function commandWithKey(key: string, own: OwnKeys): WorkspaceCommand | undefined {
  return ALL_COMMANDS.find((command) => listOfKeys(keysOfCommand(command, own)).includes(key));
}

/** Gives a command these keys, or its usual ones; the commands that have them lose them. */
export function withKeys(own: OwnKeys, command: WorkspaceCommand, keys: string | undefined): OwnKeys {
  const { [idOfCommand(command)]: _, ...others } = own;
  const next: Record<string, string> = keys === undefined ? others : { ...others, [idOfCommand(command)]: keys };
  const taken = listOfKeys(keysOfCommand(command, next));
  for (const other of ALL_COMMANDS) {
    const had = listOfKeys(keysOfCommand(other, next));
    const left = had.filter((key) => !taken.includes(key));
    if (other !== command && left.length < had.length) next[idOfCommand(other)] = left.join(", ");
  }
  return next;
}

/** Step of a divider, as a share. */
const STEP = 0.05;

/** @returns undefined for a key of the terminal. With a single pane, keys to other panes are the terminal's. */
export function commandOfKey(pressed: Pressed, hasOthers: boolean, own: OwnKeys = {}): WorkspaceCommand | undefined {
  const key = keyNameOf(pressed);
  const command = key === undefined ? undefined : commandWithKey(key, own);
  // The terminal takes its own, wherever it is.
  if (command === undefined || command.do === "terminal" || command.do === "settings") return undefined;
  return commandIsForOthers(command) && !hasOthers ? undefined : command;
}

/** Whether a command means something only with another pane. */
export function commandIsForOthers({ do: what }: WorkspaceCommand): boolean {
  const those = ["focus", "move", "grow", "own-tab", "show-tab", "move-tab", "close", "close-tab", "close-others"];
  return [...those, "maximize", "equalize"].includes(what);
}

/** The layout after a command that needs nothing else. */
export function applied(layout: Layout, command: WorkspaceCommand): Layout {
  const id = focusOf(layout);
  if (id === undefined) return layout;
  switch (command.do) {
    case "focus": {
      const next = neighbourOf(layout, id, command.direction);
      return next === undefined ? layout : focus(layout, next);
    }
    case "move": {
      const next = neighbourOf(layout, id, command.direction);
      return next === undefined ? layout : swap(layout, id, next);
    }
    case "grow":
      return resizeBy(layout, id, command.direction, STEP);
    case "maximize":
      return maximize(layout);
    case "equalize":
      return equalize(layout);
    case "own-tab":
      return moveToOwnTab(layout, id, layout.current + 1);
    case "close-tab":
      return closeTab(layout, layout.current);
    case "close-others":
      return closeOthers(layout);
    case "show-tab":
      return showTab(layout, layout.current + command.by);
    case "move-tab":
      return moveTab(layout, layout.current, layout.current + command.by);
    default:
      return layout;
  }
}

/** The nearest edge of a pane. @param x, y Within it, from 0 to 1. */
export function edgeAt(x: number, y: number): Direction {
  const distances: readonly (readonly [Direction, number])[] = [
    ["left", x],
    ["right", 1 - x],
    ["up", y],
    ["down", 1 - y],
  ];
  return distances.reduce((nearest, one) => (one[1] < nearest[1] ? one : nearest))[0];
}
