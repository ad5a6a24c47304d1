// Shortcuts of the page that don't go to the process. Pure.

export type Shortcut =
  | "search"
  | "previous-command"
  | "next-command"
  | "copy-output"
  | "to-bottom"
  | "latency"
  | "settings";

/** The used fields of a key event. */
export type Pressed = Pick<KeyboardEvent, "code" | "key" | "ctrlKey" | "shiftKey" | "altKey" | "metaKey">;

const WITH_CTRL_SHIFT: Readonly<Record<string, Shortcut>> = {
  KeyF: "search",
  ArrowUp: "previous-command",
  ArrowDown: "next-command",
  KeyY: "copy-output",
  KeyL: "latency",
  End: "to-bottom",
  Comma: "settings",
};

/** A shortcut's keys as people write them. */
export function keyOfShortcut(shortcut: Shortcut): string {
  const code = Object.keys(WITH_CTRL_SHIFT).find((each) => WITH_CTRL_SHIFT[each] === shortcut) ?? "";
  const signs: Readonly<Record<string, string>> = { ArrowUp: "↑", ArrowDown: "↓", Comma: "," };
  return `Ctrl+Shift+${signs[code] ?? code.replace(/^Key/, "")}`;
}

/** The key's shortcut; undefined if it goes to the process. */
export function shortcutOf({ code, ctrlKey, shiftKey, altKey, metaKey }: Pressed): Shortcut | undefined {
  if (!ctrlKey || !shiftKey || altKey || metaKey) return undefined;
  return Object.hasOwn(WITH_CTRL_SHIFT, code) ? WITH_CTRL_SHIFT[code] : undefined;
}
