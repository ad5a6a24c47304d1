// Messages of the page itself, over the start of its status bar: what was just closed, who asks in another tab, tabs of other windows.

import { type ReactNode, useEffect, useState } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { useTexts } from "../texts/texts-context.ts";
import { allTargets, paneIdOf, targetsOf } from "../workspace/layout.ts";
import type { Closed, Workspace } from "../workspace/workspace.ts";
import type { LiveSessions } from "./use-live-sessions.ts";

const SHOWN_MS = 8_000;

type PageNoticesProps = {
  readonly workspace: Workspace;
  readonly live: LiveSessions;
  readonly titleOf: (target: SessionTarget) => string;
  readonly onCommand: (command: { readonly do: "reopen" }) => void;
  readonly onShow: (target: SessionTarget, how: "here") => void;
  /** Focuses the terminal. */
  readonly onDone: () => void;
};

export function PageNotices({ workspace, live, titleOf, onCommand, onShow, onDone }: PageNoticesProps) {
  const { desk: words, people } = useTexts();
  const { facts } = live;
  const { layout, closed, elsewhere } = workspace.getState();
  const last = useLately(closed);
  /** For how many the offer was declined. */
  const [declined, setDeclined] = useState(0);
  const current = layout.tabs[layout.current];
  const seen = new Set(current === undefined ? [] : targetsOf(current.root).map(paneIdOf));
  const asking = allTargets(layout).filter((target) => !seen.has(paneIdOf(target)));
  // A single session that is gone is told by the card in its pane.
  const gone = allTargets(layout)
    .map(paneIdOf)
    .filter((id) => facts[id]?.isGone);
  const [left, setLeft] = useState(0);
  const startAll = () => {
    for (const id of gone) live.sessionOf(id)?.connection.startAgain(facts[id]?.shell.cwd);
    onDone();
  };
  const isOffered = elsewhere > 0 && elsewhere !== declined;
  return (
    <div className="sbx-page-notices">
      {asking.map((target) => {
        const { ask } = facts[paneIdOf(target)] ?? {};
        if (ask === undefined) return null;
        return (
          <Notice key={ask.id} text={words.asksIn(people.asksPerson(ask.writer, ask.reason), titleOf(target))}>
            <button type="button" className="sbx-button sbx-primary" onClick={() => onShow(target, "here")}>
              {words.goThere}
            </button>
          </Notice>
        );
      })}
      {gone.length < 2 || gone.length === left ? null : (
        <Notice text={words.gone(gone.length)}>
          <button type="button" className="sbx-button sbx-primary" onClick={startAll}>
            {words.startAll}
          </button>
          <button type="button" className="sbx-button" onClick={() => setLeft(gone.length)}>
            {words.leave}
          </button>
        </Notice>
      )}
      {last === undefined ? null : (
        <Notice text={words.closed(last.targets.map(titleOf))}>
          <button type="button" className="sbx-button" onClick={() => onCommand({ do: "reopen" })}>
            {words.undo}
          </button>
        </Notice>
      )}
      {isOffered ? (
        <Notice text={words.elsewhere(elsewhere)}>
          <button type="button" className="sbx-button" onClick={() => void workspace.join()}>
            {words.bring}
          </button>
          <button
            type="button"
            className="sbx-button"
            onClick={() => {
              setDeclined(elsewhere);
              onDone();
            }}
          >
            {words.leave}
          </button>
        </Notice>
      ) : null}
    </div>
  );
}

function Notice({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  return (
    <section className="sbx-toast" aria-label={text}>
      <p role="status">{text}</p>
      <div className="sbx-answers">{children}</div>
    </section>
  );
}

/** What was closed last, for some seconds. */
function useLately(closed: readonly Closed[]): Closed | undefined {
  const last = closed.at(-1);
  const [gone, setGone] = useState(last);
  useEffect(() => {
    if (last === undefined) return;
    const timer = setTimeout(() => setGone(last), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [last]);
  return last === gone ? undefined : last;
}
