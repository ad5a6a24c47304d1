// The panes of a session that runs under tmux: control mode, list of panes, and their commands.

export type { PaneAddress } from "../wire/pane-address.ts";
export { commandOf, isPaneId, isPaneName, type PaneAction } from "./commands.ts";
export { type ControlEvent, ControlMode } from "./control-mode.ts";
export { type Cell, type Layout, layoutChecksum, panesOf, parseLayout } from "./layout.ts";
export { findPane, NO_PANES, type Pane, type PaneList, type Window } from "./pane-list.ts";
export { type ActionResult, type PanesPorts, PanesSession } from "./panes-session.ts";
