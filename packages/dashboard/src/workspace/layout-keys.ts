// A person's commands for tabs and panes, and their keys. In a terminal Ctrl+Shift with a letter means nothing to the process;
// Alt+Shift and an arrow does, and leads to other panes only where there are any. Pure.

import type { Direction, Layout } from "./layout.ts";
import { focusOf, neighbourOf } from "./layout.ts";
import { focus, moveTab, moveToOwnTab, resizeBy, showTab, swap } from "./layout-edits.ts";

export type DeskCommand =
  | { readonly do: "palette" }
  /** Where no sandbox is named: in that of the pane with the focus. */
  | { readonly do: "new"; readonly sandbox?: string }
  | { readonly do: "divide"; readonly direction: Direction }
  | { readonly do: "close" }
  | { readonly do: "focus" | "move" | "grow"; readonly direction: Direction }
  | { readonly do: "own-tab" }
  | { readonly do: "show-tab" | "move-tab"; readonly by: 1 | -1 };

export type Key = Pick<KeyboardEvent, "code" | "ctrlKey" | "shiftKey" | "altKey" | "metaKey">;

const CTRL = "Ctrl+Shift+";
const ALT = "Alt+Shift+";

const KEYS: Readonly<Record<string, DeskCommand>> = {
  [`${CTRL}P`]: { do: "palette" },
  // Firefox never tells a page of the one above.
  [`${CTRL}K`]: { do: "palette" },
  [`${CTRL}D`]: { do: "divide", direction: "right" },
  [`${CTRL}E`]: { do: "divide", direction: "down" },
  [`${CTRL}X`]: { do: "close" },
  [`${ALT}Left`]: { do: "focus", direction: "left" },
  [`${ALT}Right`]: { do: "focus", direction: "right" },
  [`${ALT}Up`]: { do: "focus", direction: "up" },
  [`${ALT}Down`]: { do: "focus", direction: "down" },
  [`${CTRL}[`]: { do: "show-tab", by: -1 },
  [`${CTRL}]`]: { do: "show-tab", by: 1 },
};

/** Of a divider, in parts of the whole. */
const STEP = 0.05;

/** @returns undefined for a key that is the terminal's: with one pane alone, those that lead to others are. */
export function commandOfKey(key: Key, hasOthers: boolean): DeskCommand | undefined {
  if (key.ctrlKey === key.altKey || !key.shiftKey || key.metaKey) return undefined;
  const command = KEYS[(key.ctrlKey ? CTRL : ALT) + nameOf(key.code)];
  const isForOthers = command?.do === "focus" || command?.do === "show-tab" || command?.do === "close";
  return isForOthers && !hasOthers ? undefined : command;
}

/** The keys of a command as people write them; undefined: it has none. */
export function keysOfCommand(command: DeskCommand): string | undefined {
  const keys = Object.entries(KEYS).filter(([, other]) => JSON.stringify(other) === JSON.stringify(command));
  return keys.length === 0 ? undefined : keys.map(([key]) => key).join(", ");
}

/** A key's label, as people write it. */
function nameOf(code: string): string {
  const brackets: Readonly<Record<string, string>> = { BracketLeft: "[", BracketRight: "]" };
  return brackets[code] ?? code.replace(/^Key|^Arrow/, "");
}

/** The layout after a command that needs nothing else: the same object if the command does nothing. */
export function applied(layout: Layout, command: DeskCommand): Layout {
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
    case "palette":
    case "new":
    case "divide":
    case "close":
      return layout;
  }
}

/** At which edge of a pane something is let go. @param x, y Within it, from 0 to 1. */
export function edgeAt(x: number, y: number): Direction {
  const distances: readonly (readonly [Direction, number])[] = [
    ["left", x],
    ["right", 1 - x],
    ["up", y],
    ["down", 1 - y],
  ];
  return distances.reduce((nearest, one) => (one[1] < nearest[1] ? one : nearest))[0];
}
