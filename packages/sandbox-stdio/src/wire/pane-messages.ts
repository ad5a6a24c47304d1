// Messages about panes, on both hops: the server's list, and a client's commands for one pane (B4, B8, B9).

import { MAX_COLS, MAX_CONTROL_IN_BYTES, MAX_ROWS } from "./constants.ts";
import { isArrayOf, isBoolean, isInteger, isMatch, isObject, isOneOf, isString, type Shape } from "./schema.ts";

/** The panes of a session, sent on every change. Sizes and positions in characters. */
export type PanesMessage = {
  readonly type: "panes";
  readonly panes: readonly {
    readonly id: string;
    readonly name: string;
    readonly window: string;
    readonly active: boolean;
    readonly cols: number;
    readonly rows: number;
    readonly left: number;
    readonly top: number;
  }[];
  readonly windows: readonly {
    readonly id: string;
    readonly name: string;
    readonly active: boolean;
    readonly cols: number;
    readonly rows: number;
    readonly zoomed: boolean;
  }[];
};

const PANE_ACTIONS = ["split", "close", "select", "zoom", "break", "swap", "join", "name"] as const;
const WINDOW_ACTIONS = ["new_window", "rename_window", "move_window", "resize_window"] as const;
const ACTIONS = [...PANE_ACTIONS, ...WINDOW_ACTIONS] as const;

/** Whether the action applies to a pane, which the command must name. */
export function isForPane(action: PaneCommand["action"]): boolean {
  return PANE_ACTIONS.some((one) => one === action);
}

/** A command for a pane (id or name) or a window (id). */
export type PaneCommand = {
  readonly type: "pane";
  readonly action: (typeof ACTIONS)[number];
  readonly pane?: string;
  /** `split`, `join`: where the pane goes. Absent: right. */
  readonly across?: "right" | "below";
  /** `swap`: the other pane. `join`: the neighbour to be. `move_window`: the window whose position it takes. */
  readonly with?: string;
  readonly name?: string;
  readonly window?: string;
  readonly cols?: number;
  readonly rows?: number;
};

/** Text typed into a pane. Unnumbered: text lost in transit is not resent. */
export type PaneInputCommand = { readonly type: "stdin"; readonly pane: string; readonly data: string };

export type PaneResizeCommand = {
  readonly type: "resize";
  readonly pane: string;
  readonly cols: number;
  readonly rows: number;
};

export type PaneOrder = PaneCommand | PaneInputCommand | PaneResizeCommand;

/** Whether a client's message concerns a pane. */
export function isPaneOrder(message: { readonly type: string; readonly pane?: string }): message is PaneOrder {
  return (
    message.type === "stdin" || message.type === "pane" || (message.type === "resize" && message.pane !== undefined)
  );
}

/** Answers a command while the bridge is unreachable. The command is dropped: it would arrive too late. */
export const PANE_UNREACHED = {
  type: "error",
  code: "pane_refused",
  message: "the sandbox can't be reached right now: try again",
} as const;

/** Answers a command in flight when the inner hop broke. It may have run, so it is not resent. */
export const PANE_LOST = {
  type: "error",
  code: "pane_refused",
  message:
    "the connection to the sandbox broke while this was in flight: check whether it took effect before trying again",
} as const;

const isPane = isString(64);
const isCols = isInteger(1, MAX_COLS);
const isRows = isInteger(1, MAX_ROWS);

export const PANE_SHAPE: Shape = {
  action: isOneOf(...ACTIONS),
  "pane?": isPane,
  "across?": isOneOf("right", "below"),
  "with?": isPane,
  "name?": isMatch(/^[A-Za-z0-9_.-]{0,64}$/),
  "window?": isMatch(/^@\d{1,9}$/),
  "cols?": isCols,
  "rows?": isRows,
};

export const PANE_INPUT_SHAPE: Shape = { pane: isPane, data: isString(MAX_CONTROL_IN_BYTES) };

export const PANES_SHAPE: Shape = {
  panes: isArrayOf(
    isObject({
      id: isMatch(/^%\d{1,9}$/),
      name: isString(64),
      window: isMatch(/^@\d{1,9}$/),
      active: isBoolean,
      // tmux may make a pane larger than our clients can ask for.
      cols: isInteger(0, 100_000),
      rows: isInteger(0, 100_000),
      left: isInteger(0, 100_000),
      top: isInteger(0, 100_000),
    }),
    1024,
  ),
  windows: isArrayOf(
    isObject({
      id: isMatch(/^@\d{1,9}$/),
      name: isString(256),
      active: isBoolean,
      cols: isInteger(0, 100_000),
      rows: isInteger(0, 100_000),
      zoomed: isBoolean,
    }),
    1024,
  ),
};
