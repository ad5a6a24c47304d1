// Keys that touch keyboards lack, shown on touch screens only (small-windows.css).

import type { ReactNode } from "react";
import { useTexts } from "../texts/texts-context.ts";
import type { Modifiers } from "../ui/modifiers.ts";

/** The most used first: an upright phone shows seven keys, and the row scrolls to the others. */
const KEYS = [
  ["escape", "\x1b"],
  ["tab", "\t"],
  ["control", "isControl"],
  ["up", "\x1b[A"],
  ["down", "\x1b[B"],
  ["left", "\x1b[D"],
  ["right", "\x1b[C"],
  ["controlC", "\x03"],
  ["alt", "isAlt"],
  ["slash", "/"],
  ["bar", "|"],
  ["dash", "-"],
  ["tilde", "~"],
  ["pageUp", "\x1b[5~"],
  ["pageDown", "\x1b[6~"],
  ["controlD", "\x04"],
] as const;

export type TouchKeysProps = {
  readonly modifiers: Modifiers;
  readonly hasSelection: boolean;
  /** Whether keys would reach the process; otherwise only copying works. */
  readonly mayType: boolean;
  /** Receives the key's sequence in normal mode. */
  readonly onPress: (text: string) => void;
  readonly onModifiers: (modifiers: Modifiers) => void;
  readonly onPaste: () => void;
  readonly onCopy: () => void;
  /** What stands before the keys. */
  readonly first: ReactNode;
};

export function TouchKeys(props: TouchKeysProps) {
  const words = useTexts().keys;
  const { modifiers, mayType } = props;
  const key = (name: Exclude<keyof typeof words, "label">, act: () => void, isOn?: boolean) => (
    <button
      type="button"
      key={name}
      aria-label={words[name][1]}
      aria-pressed={isOn}
      disabled={name !== "copy" && !mayType}
      // Keeps the focus in the terminal, or the touch keyboard would close.
      onPointerDown={(event) => event.preventDefault()}
      onClick={act}
    >
      {words[name][0]}
    </button>
  );
  return (
    <div className="sbx-touch-keys" role="toolbar" aria-label={words.label}>
      {props.first}
      {props.hasSelection ? key("copy", props.onCopy) : null}
      {KEYS.map(([name, sends]) =>
        sends === "isControl" || sends === "isAlt"
          ? key(name, () => props.onModifiers({ ...modifiers, [sends]: !modifiers[sends] }), modifiers[sends])
          : key(name, () => props.onPress(sends)),
      )}
      {key("paste", props.onPaste)}
    </div>
  );
}
