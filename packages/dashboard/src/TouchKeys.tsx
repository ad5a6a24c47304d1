// The keys that a touch keyboard lacks. Shown where the pointer is a finger (small-windows.css decides).

import { useTexts } from "./texts-context.ts";

const KEYS = [
  ["escape", "\x1b"],
  ["tab", "\t"],
  ["controlC", "\x03"],
  ["controlD", "\x04"],
  ["left", "\x1b[D"],
  ["down", "\x1b[B"],
  ["up", "\x1b[A"],
  ["right", "\x1b[C"],
] as const;

/** @param onPress The key as a terminal in its usual mode sends it. */
export function TouchKeys({ onPress }: { readonly onPress: (text: string) => void }) {
  const words = useTexts().keys;
  return (
    <div className="sbx-touch-keys" role="toolbar" aria-label={words.label}>
      {KEYS.map(([key, text]) => (
        <button
          type="button"
          key={key}
          aria-label={words[key][1]}
          // Kept from taking the focus, which would fold the keyboard away.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPress(text)}
        >
          {words[key][0]}
        </button>
      ))}
    </div>
  );
}
