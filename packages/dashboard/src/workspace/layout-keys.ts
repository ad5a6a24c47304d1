// Commands for tabs and panes, and their keys. Ctrl+Shift with a letter means nothing to terminals; Alt+Shift with an arrow does, and is
// taken only if there are other panes. Pure.

import { keyOfShortcut, type Shortcut } from "../terminal/terminal-shortcuts.ts";
import type { Direction, Layout } from "./layout.ts";
import { focusOf, neighbourOf } from "./layout.ts";
import { focus, moveTab, moveToOwnTab, resizeBy, showTab, swap } from "./layout-edits.ts";

export type WorkspaceCommand =
  | { readonly do: "palette" | "settings" | "keys" | "share" | "rename" | "reopen" }
  /** What the focused pane's terminal does. */
  | { readonly do: "terminal"; readonly shortcut: Shortcut }
  | { readonly do: "scheme"; readonly scheme: SchemeChoice }
  /** Default sandbox: that of the focused pane. */
  | { readonly do: "new"; readonly sandbox?: string }
  | { readonly do: "divide"; readonly direction: Direction }
  | { readonly do: "close" }
  | { readonly do: "files" | "upload" | "notify" }
  /** The answer to a program that asks for a person in the focused pane. */
  | { readonly do: "ask"; readonly act: "take" | "decline" | "back" }
  | { readonly do: "focus" | "move" | "grow"; readonly direction: Direction }
  | { readonly do: "own-tab" }
  | { readonly do: "show-tab" | "move-tab"; readonly by: 1 | -1 };

export type SchemeChoice = "system" | "light" | "dark" | "contrast";

export type Key = Pick<KeyboardEvent, "code" | "ctrlKey" | "shiftKey" | "altKey" | "metaKey">;

const CTRL = "Ctrl+Shift+";
const ALT = "Alt+Shift+";

const KEYS: Readonly<Record<string, WorkspaceCommand>> = {
  [`${CTRL}P`]: { do: "palette" },
  // Firefox does not pass the key above to pages.
  [`${CTRL}K`]: { do: "palette" },
  [`${CTRL}D`]: { do: "divide", direction: "right" },
  [`${CTRL}E`]: { do: "divide", direction: "down" },
  [`${CTRL}X`]: { do: "close" },
  [`${CTRL}Z`]: { do: "reopen" },
  [`${CTRL}/`]: { do: "keys" },
  [`${ALT}Left`]: { do: "focus", direction: "left" },
  [`${ALT}Right`]: { do: "focus", direction: "right" },
  [`${ALT}Up`]: { do: "focus", direction: "up" },
  [`${ALT}Down`]: { do: "focus", direction: "down" },
  [`${CTRL}[`]: { do: "show-tab", by: -1 },
  [`${CTRL}]`]: { do: "show-tab", by: 1 },
};

/** Step of a divider, as a share. */
const STEP = 0.05;

/** @returns undefined for a key of the terminal. With a single pane, keys to other panes are the terminal's. */
export function commandOfKey(key: Key, hasOthers: boolean): WorkspaceCommand | undefined {
  if (key.ctrlKey === key.altKey || !key.shiftKey || key.metaKey) return undefined;
  const command = KEYS[(key.ctrlKey ? CTRL : ALT) + nameOf(key.code)];
  return command !== undefined && commandIsForOthers(command) && !hasOthers ? undefined : command;
}

/** Whether a command means something only with another pane. */
export function commandIsForOthers({ do: what }: WorkspaceCommand): boolean {
  return ["focus", "move", "grow", "own-tab", "show-tab", "move-tab", "close"].includes(what);
}

/** A command's keys as people write them; undefined if it has none. */
export function keysOfCommand(command: WorkspaceCommand): string | undefined {
  if (command.do === "terminal") return keyOfShortcut(command.shortcut);
  if (command.do === "settings") return keyOfShortcut("settings");
  const keys = Object.entries(KEYS).filter(([, other]) => JSON.stringify(other) === JSON.stringify(command));
  return keys.length === 0 ? undefined : keys.map(([key]) => key).join(", ");
}

/** A key's label. */
function nameOf(code: string): string {
  const brackets: Readonly<Record<string, string>> = { BracketLeft: "[", BracketRight: "]", Slash: "/" };
  return brackets[code] ?? code.replace(/^Key|^Arrow/, "");
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
    case "own-tab":
      return moveToOwnTab(layout, id, layout.current + 1);
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
