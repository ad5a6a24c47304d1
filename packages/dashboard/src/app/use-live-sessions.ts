// The mounted sessions of the open panes: their titles, and the focus, which belongs to the focused pane's terminal.

import { useCallback, useEffect, useRef, useState } from "react";
import type { PageFacts } from "../session/terminal-props.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { allTargets, focusOf, type Layout, type PaneId, paneIdOf, targetsOf } from "../workspace/layout.ts";

export type LiveSessions = {
  /** What each pane's shell and programs say of themselves. */
  readonly facts: Readonly<Record<PaneId, PageFacts>>;
  /** A pane's session; default: that of the focused pane. */
  readonly sessionOf: (id?: PaneId) => TerminalSession | undefined;
  /** Focuses a pane's terminal; default: that of the focused pane. */
  readonly focusTerminal: (id?: PaneId) => void;
  readonly onReady: (id: PaneId, live: TerminalSession) => void;
  readonly onFacts: (id: PaneId, facts: PageFacts) => void;
};

export type LiveSessionsOptions = {
  /** The panes in view. */
  readonly shown: ReadonlySet<PaneId>;
  /** Whether a dialog covers the panes. */
  readonly isCovered: boolean;
  readonly isDragging: boolean;
  /** Receives the session that gets the focus. */
  readonly onFocus: ((session: TerminalSession) => void) | undefined;
};

export function useLiveSessions(
  layout: Layout,
  { shown, isCovered, isDragging, onFocus }: LiveSessionsOptions,
): LiveSessions {
  const sessions = useRef(new Map<PaneId, TerminalSession>());
  const [facts, setFacts] = useState<Readonly<Record<PaneId, PageFacts>>>({});
  const focusId = focusOf(layout);
  const focusTerminal = useCallback(
    (id = focusId) => {
      if (id !== undefined) sessions.current.get(id)?.screen.focus();
    },
    [focusId],
  );
  // Each new terminal takes the focus: afterwards the focused pane takes it back.
  useEffect(() => {
    const live = focusId === undefined ? undefined : sessions.current.get(focusId);
    if (live !== undefined) onFocus?.(live);
    if (!isCovered && !isAtControlOf(focusId)) focusTerminal();
  }, [focusTerminal, focusId, shown, isCovered, onFocus]);

  // The dragged element had the focus, or nothing had.
  const wasDragging = useRef(false);
  useEffect(() => {
    if (!isDragging && wasDragging.current) focusTerminal();
    wasDragging.current = isDragging;
  }, [isDragging, focusTerminal]);

  // What happens in the other tabs is shown at them until they are looked at.
  useEffect(() => {
    const tab = layout.tabs[layout.current];
    const seen = new Set(tab === undefined ? [] : targetsOf(tab.root).map(paneIdOf));
    for (const [id, session] of sessions.current) session.isShown = seen.has(id);
  }, [layout]);

  // Forget closed panes, with their terminals and scrollbacks.
  useEffect(() => {
    const openIds = new Set(allTargets(layout).map(paneIdOf));
    for (const id of sessions.current.keys()) if (!openIds.has(id)) sessions.current.delete(id);
    setFacts((before) => {
      const kept = Object.entries(before).filter(([id]) => openIds.has(id));
      return kept.length === Object.keys(before).length ? before : Object.fromEntries(kept);
    });
  }, [layout]);

  return {
    facts,
    sessionOf: (id = focusId) => (id === undefined ? undefined : sessions.current.get(id)),
    focusTerminal,
    onReady: (id, live) => sessions.current.set(id, live),
    onFacts: (id, of) => setFacts((before) => ({ ...before, [id]: of })),
  };
}

/** Whether the focus is on a button of the pane, where Tab moved it. */
function isAtControlOf(id: PaneId | undefined): boolean {
  const { activeElement } = document;
  const isInPane = activeElement?.closest("[data-pane]")?.getAttribute("data-pane") === id;
  return isInPane && activeElement?.closest(".xterm") === null;
}
