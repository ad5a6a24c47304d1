// What each session is called on this page, and what the workspace remembers of that.

import { useEffect, useState } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import type { PageFacts } from "../session/terminal-props.ts";
import { isGenerated, labelOf, Places, placeOf } from "../workspace/labels.ts";
import { allTargets, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { isUrgent, type TabSign } from "../workspace/TabSign.tsx";
import type { Workspace } from "../workspace/workspace.ts";

export type Labels = {
  /** What runs in a session, and where. */
  readonly titleOf: (target: SessionTarget) => string;
  /** Without what runs. */
  readonly nameOf: (target: SessionTarget) => string;
  /** What happened in a session while nobody looked. */
  readonly signOf: (id: PaneId) => TabSign | undefined;
  /** How many sessions want somebody to look, as the start of a title. */
  readonly calls: string;
};

/** @param unnamed For a session of which nothing is known yet. */
export function useLabels(workspace: Workspace, facts: Readonly<Record<PaneId, PageFacts>>, unnamed: string): Labels {
  const { layout, names, places, closed } = workspace.getState();
  const [apart] = useState(() => new Places());
  const nameOf = (target: SessionTarget) => {
    const id = paneIdOf(target);
    return apart.apart(target, placeOf(target, facts[id]?.shell.cwd, places[id] ?? unnamed, names[id]));
  };
  useEffect(() => {
    for (const target of allTargets(layout)) {
      const cwd = isGenerated(target) ? facts[paneIdOf(target)]?.shell.cwd : undefined;
      if (cwd !== undefined) workspace.placed(target, placeOf(target, cwd, "", undefined));
    }
  }, [workspace, layout, facts]);
  useEffect(() => {
    apart.keep(new Set([...allTargets(layout), ...closed.flatMap(({ targets }) => targets)].map(paneIdOf)));
  }, [apart, layout, closed]);
  const signOf = (id: PaneId) => (facts[id]?.isGone ? "gone" : facts[id]?.ask ? "asks" : facts[id]?.sign);
  const calls = Object.keys(facts).filter((id) => isUrgent(signOf(id))).length;
  return {
    nameOf,
    signOf,
    calls: calls === 0 ? "" : `(${calls}) `,
    titleOf: (target) => {
      const id = paneIdOf(target);
      const { title = "", shell } = facts[id] ?? {};
      const running = { title, cwd: shell?.cwd, running: shell?.running };
      return labelOf(nameOf(target), names[id] !== undefined, running);
    },
  };
}
