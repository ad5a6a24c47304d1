// A terminal that draws the windows and panes of a session under tmux; other sessions as usual.

import { Terminal } from "../session/Terminal.tsx";
import type { OfPane, TerminalProps } from "../session/terminal-props.ts";
import { SessionPanesView } from "./SessionPanesView.tsx";

export type PanedTerminalProps = TerminalProps & {
  /** Absent: this person may open no panes. */
  readonly ofPane?: OfPane | undefined;
};

export function PanedTerminal({ ofPane, ...props }: PanedTerminalProps) {
  if (ofPane === undefined) return <Terminal {...props} />;
  return (
    <Terminal
      {...props}
      over={(live, onStandIn) => <SessionPanesView live={live} whole={props} ofPane={ofPane} onStandIn={onStandIn} />}
    />
  );
}
