// The English texts of a session's windows and panes. A part of texts.ts. Pure.

export const ENGLISH_PANES = {
  /** Windows and panes of a session that runs under tmux. */
  panes: {
    windows: "Windows",
    window: (index: number, name: string) => `${index + 1}: ${name}`,
    pane: (id: string, name: string) => `Pane ${name === "" ? id : `${name} (${id})`}`,
    newWindow: "New window",
    renameWindow: ["✎", "Give this window a name (F2)"],
    windowName: "Name of the window",
    /** What stands on a button, and what is said of it. */
    splitRight: ["◫", "Divide this pane: a new one to the right"],
    splitBelow: ["⊟", "Divide this pane: a new one below"],
    zoom: ["⤢", "This pane alone"],
    move: [
      "⠿",
      "Change places with the next pane, or drag it: onto another pane, into a window, or behind the windows",
    ],
    joinNext: ["⇥", "Take this pane to the next window"],
    breakOut: ["⇱", "A window of its own for this pane"],
    close: ["×", "Close this pane: its program ends"],
    closing: (id: string) => `Pane ${id}:`,
    closeNow: "End its program",
    keep: "Keep it",
    border: "Border: the arrow keys move it",
  } satisfies Record<string, string | readonly [on: string, said: string] | ((...of: never[]) => string)>,
};
