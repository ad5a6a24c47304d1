// The field in which a session is named: in its tab, if it was begun there, else in its pane's line.

import { type ReactNode, useState } from "react";
import { useTexts } from "../texts/texts-context.ts";
import { allTargets, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { NameField } from "../workspace/NameField.tsx";
import type { Workspace } from "../workspace/workspace.ts";

/** A pane, or the tab whose focused pane is named. */
export type Naming = PaneId | number;

export function useNaming(workspace: Workspace) {
  const { layout, names } = workspace.getState();
  const [naming, setNaming] = useState<Naming>();
  const label = useTexts().desk.nameHere;
  const id = typeof naming === "number" ? layout.tabs[naming]?.focus : naming;
  const target = allTargets(layout).find((each) => paneIdOf(each) === id);
  const fieldOf = (place: Naming): ReactNode =>
    naming !== place || target === undefined ? undefined : (
      <NameField
        label={label}
        name={names[paneIdOf(target)] ?? ""}
        onName={(to) => {
          setNaming(undefined);
          if (to !== undefined) void workspace.rename(target, to);
        }}
      />
    );
  return { isNaming: naming !== undefined, setNaming, fieldOf };
}
