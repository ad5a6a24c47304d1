// The panes of a session that runs under tmux: control mode, list of panes, and their commands.

export type { PaneAddress } from "../wire/pane-address.ts";
export { type CommandLine, commandOf, isPaneId, isPaneName, isWindowId, type PaneAction } from "./commands.ts";
export { type ControlEvent, ControlMode } from "./control-mode.ts";
export { type Cell, type Layout, layoutChecksum, panesOf, parseLayout } from "./layout.ts";
export { activeWindow, findPane, layoutOf, NO_PANES, type Pane, type PaneList, type Window } from "./pane-list.ts";
export { type ActionResult, type PanesPorts, PanesSession } from "./panes-session.ts";
