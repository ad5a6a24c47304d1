// The tab bar. Arrows move the focus, Enter shows a tab, Shift+arrow moves it, Delete closes it; the mouse drags.

import { type DragEvent, type KeyboardEvent, type ReactNode, useRef } from "react";
import { flushSync } from "react-dom";
import { useTexts } from "../texts/texts-context.ts";
import { type Dragged, type LayoutTab, paneIdOf, targetsOf } from "./layout.ts";
import type { SessionNames } from "./session-names.ts";

/** The id of the element that a tab controls. */
export const PANES_ID = "sbx-panes";

export type TabBarProps = {
  readonly tabs: readonly LayoutTab[];
  readonly names: SessionNames;
  readonly current: number;
  readonly dragged: Dragged | undefined;
  readonly onDrag: (dragged: number | undefined) => void;
  /** Something was dropped before the tab at `index`. */
  readonly onDrop: (index: number) => void;
  readonly onShow: (index: number) => void;
  readonly onMove: (index: number, to: number) => void;
  readonly onClose: (index: number) => void;
  readonly onNew: () => void;
  readonly isKept: boolean;
  readonly children: ReactNode;
};

export function TabBar(props: TabBarProps) {
  const { tabs, current } = props;
  const { desk: words } = useTexts();
  const list = useRef<HTMLDivElement>(null);
  const focusTab = (index: number) => {
    const to = (index + tabs.length) % tabs.length;
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[to]?.focus();
  };
  /** Moved or removed elements lose the focus. A frame later would be too late for the next key. */
  const focusTabAfter = (change: () => void, index: number) => {
    flushSync(change);
    focusTab(index);
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const to = Math.max(0, Math.min(index + by, tabs.length - 1));
    if (event.shiftKey && by !== 0) {
      focusTabAfter(() => props.onMove(index, to), to);
    } else if (by !== 0) focusTab(index + by);
    else if (event.key === "Home") focusTab(0);
    else if (event.key === "End") focusTab(tabs.length - 1);
    else if (event.key === "Delete") {
      if (tabs.length > 1) focusTabAfter(() => props.onClose(index), Math.min(index, tabs.length - 2));
      else props.onClose(index);
    } else return;
    event.preventDefault();
  };
  const allow = (event: DragEvent) => {
    if (props.dragged !== undefined) event.preventDefault();
  };
  const drop = (event: DragEvent, index: number) => {
    event.preventDefault();
    event.stopPropagation();
    props.onDrop(index);
  };
  return (
    <div className="sbx-tabs">
      <div
        className="sbx-tab-list"
        role="tablist"
        aria-label={words.tabs}
        ref={list}
        onDragOver={allow}
        onDrop={(event) => drop(event, tabs.length)}
      >
        {tabs.map(({ root }, index) => {
          const name = words.tab(targetsOf(root).map((target) => props.names[paneIdOf(target)] ?? target.session));
          const isCurrent = index === current;
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: a handle for the mouse; the tab in it has the keys.
            <div
              className="sbx-tab"
              key={targetsOf(root).map(paneIdOf).join(" ")}
              role="presentation"
              data-current={isCurrent}
              draggable
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = "move";
                event.dataTransfer.setData("text/plain", name);
                props.onDrag(index);
              }}
              onDragEnd={() => props.onDrag(undefined)}
              onDragOver={allow}
              onDrop={(event) => drop(event, index)}
            >
              <button
                type="button"
                role="tab"
                className="sbx-tab-name"
                aria-selected={isCurrent}
                aria-controls={PANES_ID}
                aria-keyshortcuts="Delete"
                tabIndex={isCurrent ? 0 : -1}
                onClick={() => props.onShow(index)}
                onKeyDown={(event) => onKey(event, index)}
              >
                {name}
              </button>
              <button
                type="button"
                className="sbx-quiet sbx-tab-close"
                tabIndex={-1}
                // A tablist may contain only tabs: keyboard users close one with Delete.
                aria-hidden="true"
                title={words.closeTab(name)}
                onClick={() => props.onClose(index)}
              >
                ×
              </button>
            </div>
          );
        })}
      </div>
      <button type="button" className="sbx-quiet" aria-label={words.new} title={words.new} onClick={props.onNew}>
        +
      </button>
      <span className="sbx-tabs-room" role="status">
        {props.isKept ? "" : words.notKept}
      </span>
      {props.children}
    </div>
  );
}
