// One pane of a session under tmux: a terminal on the pane's own session, with the size that tmux gives it.

import { memo, useEffect, useState } from "react";
import { Terminal } from "../session/Terminal.tsx";
import type { TerminalProps } from "../session/terminal-props.ts";
import type { TerminalSession } from "../session/terminal-session.ts";

export type PaneTerminalProps = Omit<TerminalProps, "bars" | "isSized" | "onReady" | "over"> & {
  readonly id: string;
  readonly isSecret: boolean;
  readonly onLive: (id: string, live: TerminalSession) => void;
};

/** The pane exists, so its session should: reconnect attempts, each after twice the delay. */
const TRIES = 6;
const FIRST_MS = 500;

export const PaneTerminal = memo(function PaneTerminal({ id, isSecret, onLive, ...props }: PaneTerminalProps) {
  const [live, setLive] = useState<TerminalSession>();
  useEffect(() => {
    if (live !== undefined) onLive(id, live);
  }, [live, id, onLive]);
  useEffect(() => live?.setSecret(isSecret), [live, isSecret]);
  useEffect(() => (live === undefined ? undefined : reconnect(live)), [live]);
  return <Terminal {...props} bars={false} isSized onReady={setLive} />;
});

/** Reconnects an ended session. A closed pane's element goes; if it stays, an earlier pane of this number had ended. */
function reconnect({ connection, getView, subscribe }: TerminalSession): () => void {
  let tries = 0;
  let timer: number | undefined;
  const check = () => {
    const { client } = getView();
    if (client.phase === "attached") tries = 0;
    if (client.phase !== "ended" || timer !== undefined || tries === TRIES) return;
    const { kind } = client.end;
    timer = window.setTimeout(
      () => {
        timer = undefined;
        if (kind === "exit") connection.startAgain();
        else connection.retryNow();
      },
      FIRST_MS * 2 ** tries,
    );
    tries += 1;
  };
  const stop = subscribe(check);
  return () => {
    stop();
    clearTimeout(timer);
  };
}
