// Command lines for tmux's control mode. Each names its target by id, and quotes text that others have chosen.

import { PANE_FORMAT, TAKEN_OPTION } from "./pane-list.ts";
import { SCREEN_FORMAT } from "./redraw.ts";

/** One line without its line end. tmux answers each of its commands, up to the first that fails. */
export type CommandLine = { readonly text: string; readonly commands: number };

/** A person's actions on panes and windows. The caller checks ids and names: {@link isPaneId}, {@link isPaneName}. */
export type PaneAction =
  | { readonly action: "split"; readonly pane: string; readonly across: "right" | "below" }
  | { readonly action: "close" | "select" | "zoom" | "break"; readonly pane: string }
  | { readonly action: "swap"; readonly pane: string; readonly with: string }
  | { readonly action: "join"; readonly pane: string; readonly with: string; readonly across: "right" | "below" }
  | { readonly action: "resize"; readonly pane: string; readonly cols: number; readonly rows: number }
  | { readonly action: "name"; readonly pane: string; readonly name: string }
  | { readonly action: "new_window" }
  | { readonly action: "rename_window"; readonly window: string; readonly name: string }
  /** Moves before or after another window. */
  | { readonly action: "move_window"; readonly window: string; readonly with: string; readonly isBefore: boolean }
  | { readonly action: "resize_window"; readonly window: string; readonly cols: number; readonly rows: number };

export function isPaneId(text: string): boolean {
  return /^%\d{1,9}$/.test(text);
}

/** Whether a person may give a pane this name: it must be safe in a command line, and complete in a list. */
export function isPaneName(text: string): boolean {
  return /^[A-Za-z0-9_.-]{0,64}$/.test(text);
}

function line(...commands: readonly string[]): CommandLine {
  return { text: commands.join(" ; "), commands: commands.length };
}

/** tmux's parser changes nothing between single quotes. A quote itself is put outside of them. A line end ends the command. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export const LIST_PANES = line(`list-panes -a -F ${quoted(PANE_FORMAT)}`);

/** Reports within a second that a pane has a new name, or its window a new position, which tmux does not report by itself. */
export const WATCH_NAMES = line(`refresh-client -B ${quoted("names:%*:#{@name} #{window_index}")}`);

/** Most lines of history in a redraw. */
const HISTORY_LINES = 2_000;

/**
 * Captures everything that redraws a pane, in one line, so that no output comes between. Four answers: state, history, screen,
 * and the normal screen behind an alternate one.
 */
export function capture(pane: string): CommandLine {
  return line(
    `display-message -p -t ${pane} ${quoted(SCREEN_FORMAT)}`,
    `capture-pane -p -e -J -S -${HISTORY_LINES} -E -1 -t ${pane}`,
    `capture-pane -p -e -N -t ${pane}`,
    `capture-pane -p -e -N -a -q -t ${pane}`,
  );
}

/** tmux has paused a pane's output: resumes it. The missed output must be redrawn. */
export function continuePane(pane: string): CommandLine {
  return line(`refresh-client -A ${quoted(`${pane}:continue`)}`);
}

/** Pauses a pane's output until {@link continuePane}. Its program runs on, and tmux keeps its screen. */
export function pausePane(pane: string): CommandLine {
  return line(`refresh-client -A ${quoted(`${pane}:pause`)}`);
}

/**
 * Types bytes, and stores the new count in tmux itself. Both happen or neither: after a failed command the rest is not run.
 * @param taken Count of the pane's input including these bytes.
 */
export function type(pane: string, bytes: Uint8Array, taken: number): CommandLine {
  let keys = "";
  for (const byte of bytes) keys += ` ${byte < 16 ? "0" : ""}${byte.toString(16)}`;
  return line(`send-keys -t ${pane} -H${keys}`, `set-option -p -t ${pane} ${TAKEN_OPTION} ${taken}`);
}

/** tmux's command for an action. Sizes are integers within the protocol's limits. */
export function commandOf(action: PaneAction): CommandLine {
  switch (action.action) {
    case "split":
      return line(`split-window ${action.across === "right" ? "-h" : "-v"} -t ${action.pane}`);
    case "close":
      return line(`kill-pane -t ${action.pane}`);
    case "select":
      return line(`select-window -t ${action.pane}`, `select-pane -t ${action.pane}`);
    case "zoom":
      return line(`resize-pane -Z -t ${action.pane}`);
    case "break":
      return line(`break-pane -s ${action.pane}`);
    case "swap":
      return line(`swap-pane -d -s ${action.pane} -t ${action.with}`);
    case "join":
      // Not join-pane, which rejects a pane of the same window.
      return line(`move-pane ${action.across === "right" ? "-h" : "-v"} -s ${action.pane} -t ${action.with}`);
    case "resize":
      return line(`resize-pane -t ${action.pane} -x ${action.cols} -y ${action.rows}`);
    case "name":
      return line(`set-option -p -t ${action.pane} @name ${quoted(action.name)}`);
    case "new_window":
      return line("new-window");
    case "rename_window":
      // Without a name, let tmux name the window again by its program.
      return action.name === ""
        ? line(`set-option -w -t ${action.window} automatic-rename on`)
        : line(`rename-window -t ${action.window} -- ${quoted(action.name)}`);
    case "move_window":
      return line(`move-window -d ${action.isBefore ? "-b" : "-a"} -s ${action.window} -t ${action.with}`);
    case "resize_window":
      return line(`resize-window -t ${action.window} -x ${action.cols} -y ${action.rows}`);
  }
}
