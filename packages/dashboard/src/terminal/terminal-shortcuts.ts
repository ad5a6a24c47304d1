// The keys that are the page's and not the process's: those to find something in the scrollback. Pure.

export type Shortcut =
  | "search"
  | "previous-command"
  | "next-command"
  | "copy-output"
  | "to-bottom"
  | "latency"
  | "settings";

/** The fields that matter of a key that was pressed. */
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

/** A key's action here; undefined: it is the process's. */
export function shortcutOf({ code, ctrlKey, shiftKey, altKey, metaKey }: Pressed): Shortcut | undefined {
  if (!ctrlKey || !shiftKey || altKey || metaKey) return undefined;
  return Object.hasOwn(WITH_CTRL_SHIFT, code) ? WITH_CTRL_SHIFT[code] : undefined;
}
