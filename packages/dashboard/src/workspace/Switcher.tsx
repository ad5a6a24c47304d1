// The lists of all open panes: as the system draws one for small windows, which show one pane, and a menu for tabs out of view. Also
// tells which window is small.

import { ChevronDown } from "lucide-react";
import { useSyncExternalStore } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { useTexts } from "../texts/texts-context.ts";
import { DropdownMenu } from "../ui/Menu.tsx";
import { type LayoutTab, type PaneId, paneIdOf, targetsOf } from "./layout.ts";
import { SignIcon, type TabSign } from "./TabSign.tsx";

/** A window in which panes beside each other would have too few columns or rows: a phone, upright or lying. */
const SMALL = "(max-width: 639.98px), (pointer: coarse) and (max-height: 479.98px)";

export function useIsSmall(): boolean {
  return useSyncExternalStore(onChange, () => matchMedia(SMALL).matches);
}

/** @returns Unsubscribes. */
function onChange(listener: () => void): () => void {
  const stop = new AbortController();
  matchMedia(SMALL).addEventListener("change", listener, { signal: stop.signal });
  return () => stop.abort();
}

export type SwitcherProps = {
  readonly tabs: readonly LayoutTab[];
  readonly current: number;
  readonly titleOf: (target: SessionTarget) => string;
  readonly onShow: (target: SessionTarget) => void;
};

export function Switcher({ tabs, current, titleOf, onShow }: SwitcherProps) {
  const words = useTexts().desk;
  const all = tabs.flatMap(({ root }) => targetsOf(root));
  const option = (target: SessionTarget) => {
    const id = paneIdOf(target);
    return (
      <option key={id} value={id}>
        {titleOf(target)}
      </option>
    );
  };
  return (
    <select
      className="sbx-switcher"
      aria-label={words.switcher}
      title={words.switcher}
      value={tabs[current]?.focus}
      onChange={(event) => {
        const chosen = all.find((target) => paneIdOf(target) === event.target.value);
        if (chosen !== undefined) onShow(chosen);
      }}
    >
      {tabs.map(({ root }) => {
        const targets = targetsOf(root);
        const key = targets.map(paneIdOf).join(" ");
        if (targets.length === 1) return targets.map(option);
        return (
          <optgroup key={key} label={words.tab(targets.map(titleOf))}>
            {targets.map(option)}
          </optgroup>
        );
      })}
    </select>
  );
}

export type TabMenuProps = SwitcherProps & {
  readonly signOf: (id: PaneId) => TabSign | undefined;
  /** Focuses the terminal. */
  readonly onDone: () => void;
};

export function TabMenu({ tabs, current, titleOf, signOf, onShow, onDone }: TabMenuProps) {
  const words = useTexts().desk;
  const focus = tabs[current]?.focus;
  const entries = () =>
    tabs
      .flatMap(({ root }) => targetsOf(root))
      .map((target) => ({
        label: titleOf(target),
        sign: <SignIcon sign={signOf(paneIdOf(target))} />,
        isChosen: paneIdOf(target) === focus,
        act: () => onShow(target),
      }));
  return (
    <DropdownMenu entries={entries} onDone={onDone}>
      <button type="button" className="sbx-quiet sbx-tool" aria-label={words.switcher} title={words.switcher}>
        <ChevronDown size={16} aria-hidden />
      </button>
    </DropdownMenu>
  );
}
