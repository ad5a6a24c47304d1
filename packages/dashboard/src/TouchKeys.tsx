// The keys that a touch keyboard lacks. Shown where the pointer is a finger (style.css decides).

const KEYS: readonly { readonly label: string; readonly name: string; readonly text: string }[] = [
  { label: "Esc", name: "Escape", text: "\x1b" },
  { label: "Tab", name: "Tab", text: "\t" },
  { label: "^C", name: "Control C", text: "\x03" },
  { label: "^D", name: "Control D", text: "\x04" },
  { label: "←", name: "Left", text: "\x1b[D" },
  { label: "↓", name: "Down", text: "\x1b[B" },
  { label: "↑", name: "Up", text: "\x1b[A" },
  { label: "→", name: "Right", text: "\x1b[C" },
];

/** @param onPress The key as a terminal in its usual mode sends it. */
export function TouchKeys({ onPress }: { readonly onPress: (text: string) => void }) {
  return (
    <div className="sbx-touch-keys" role="toolbar" aria-label="Keys">
      {KEYS.map(({ label, name, text }) => (
        <button
          type="button"
          key={name}
          aria-label={name}
          // Kept from taking the focus, which would fold the keyboard away.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onPress(text)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
