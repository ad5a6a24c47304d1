// Lines of commands for tmux's control mode. Each names its target by id, and quotes text that others have chosen.

import { PANE_FORMAT, TAKEN_OPTION } from "./pane-list.ts";
import { SCREEN_FORMAT } from "./redraw.ts";

/** One line, without its end. tmux answers each of its commands, up to the first that fails. */
export type CommandLine = { readonly text: string; readonly commands: number };

/** A person's acts on panes and windows. Ids and names are checked where they come from: {@link isPaneId}, {@link isPaneName}. */
export type PaneAction =
  | { readonly action: "split"; readonly pane: string; readonly across: "right" | "below" }
  | { readonly action: "close" | "select" | "zoom" | "break"; readonly pane: string }
  | { readonly action: "swap"; readonly pane: string; readonly with: string }
  | { readonly action: "join"; readonly pane: string; readonly with: string; readonly across: "right" | "below" }
  | { readonly action: "resize"; readonly pane: string; readonly cols: number; readonly rows: number }
  | { readonly action: "name"; readonly pane: string; readonly name: string }
  | { readonly action: "new_window" }
  | { readonly action: "rename_window"; readonly window: string; readonly name: string }
  /** Before or behind another. */
  | { readonly action: "move_window"; readonly window: string; readonly with: string; readonly isBefore: boolean }
  | { readonly action: "resize_window"; readonly window: string; readonly cols: number; readonly rows: number };

export function isPaneId(text: string): boolean {
  return /^%\d{1,9}$/.test(text);
}

export function isWindowId(text: string): boolean {
  return /^@\d{1,9}$/.test(text);
}

/** Whether a person may call a pane so: no command line may read the name otherwise, and no list leave it out. */
export function isPaneName(text: string): boolean {
  return /^[A-Za-z0-9_.-]{0,64}$/.test(text);
}

function line(...commands: readonly string[]): CommandLine {
  return { text: commands.join(" ; "), commands: commands.length };
}

/** Between single quotes tmux's parser changes nothing; a quote itself stands outside of them. A line end ends the command. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export const LIST_PANES = line(`list-panes -a -F ${quoted(PANE_FORMAT)}`);

/** A pane that is given a name, or whose window has another place, is told within a second: tmux tells neither by itself. */
export const WATCH_NAMES = line(`refresh-client -B ${quoted("names:%*:#{@name} #{window_index}")}`);

/** Lines of history that a redraw brings at most. */
export const HISTORY_LINES = 2_000;

/**
 * Everything that redraws a pane, in one line: tmux lets no output come between. Four answers: state, history,
 * screen, and the screen that waits behind an alternate one.
 */
export function capture(pane: string): CommandLine {
  return line(
    `display-message -p -t ${pane} ${quoted(SCREEN_FORMAT)}`,
    `capture-pane -p -e -J -S -${HISTORY_LINES} -E -1 -t ${pane}`,
    `capture-pane -p -e -N -t ${pane}`,
    `capture-pane -p -e -N -a -q -t ${pane}`,
  );
}

/** tmux has stopped telling a pane's output: it goes on from here, and the missed output is drawn anew. */
export function continuePane(pane: string): CommandLine {
  return line(`refresh-client -A ${quoted(`${pane}:continue`)}`);
}

/** tmux tells no more of a pane's output until {@link continuePane}. Its program runs on, and tmux keeps its screen. */
export function pausePane(pane: string): CommandLine {
  return line(`refresh-client -A ${quoted(`${pane}:pause`)}`);
}

/**
 * Types bytes, and notes in tmux itself how many that makes. Both happen or neither: a command behind one that fails is not run.
 * @param taken The count of the pane's input after these bytes.
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
      // Not join-pane, which refuses a pane of the same window.
      return line(`move-pane ${action.across === "right" ? "-h" : "-v"} -s ${action.pane} -t ${action.with}`);
    case "resize":
      return line(`resize-pane -t ${action.pane} -x ${action.cols} -y ${action.rows}`);
    case "name":
      return line(`set-option -p -t ${action.pane} @name ${quoted(action.name)}`);
    case "new_window":
      return line("new-window");
    case "rename_window":
      // Without a name tmux names it by what runs in it again.
      return action.name === ""
        ? line(`set-option -w -t ${action.window} automatic-rename on`)
        : line(`rename-window -t ${action.window} -- ${quoted(action.name)}`);
    case "move_window":
      return line(`move-window -d ${action.isBefore ? "-b" : "-a"} -s ${action.window} -t ${action.with}`);
    case "resize_window":
      return line(`resize-window -t ${action.window} -x ${action.cols} -y ${action.rows}`);
  }
}
