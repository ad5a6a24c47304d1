// Keys that touch keyboards lack, shown on touch screens only (small-windows.css).

import { useTexts } from "../texts/texts-context.ts";
import type { Modifiers } from "../ui/modifiers.ts";

const KEYS = [
  ["escape", "\x1b"],
  ["tab", "\t"],
  ["controlC", "\x03"],
  ["left", "\x1b[D"],
  ["down", "\x1b[B"],
  ["up", "\x1b[A"],
  ["right", "\x1b[C"],
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
  const { isControl, isAlt } = modifiers;
  return (
    <div className="sbx-touch-keys" role="toolbar" aria-label={words.label}>
      {props.hasSelection ? key("copy", props.onCopy) : null}
      {key("control", () => props.onModifiers({ ...modifiers, isControl: !isControl }), isControl)}
      {key("alt", () => props.onModifiers({ ...modifiers, isAlt: !isAlt }), isAlt)}
      {KEYS.map(([name, text]) => key(name, () => props.onPress(text)))}
      {key("paste", props.onPaste)}
    </div>
  );
}
