// The panes of a session that runs under tmux: control mode, list of panes, and their commands.

export type { PaneAddress } from "../wire/pane-address.ts";
export { isPaneId, type PaneAction } from "./commands.ts";
export type { Pane, PaneList, Window } from "./pane-list.ts";
export { type ActionResult, type PanesPorts, PanesSession } from "./panes-session.ts";
