// The tab bar. Arrows move the focus, Enter shows a tab, Shift+arrow moves it, Delete closes it; the mouse drags.

import { Plus, X } from "lucide-react";
import { type DragEvent, type KeyboardEvent, type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { SessionTarget } from "../connection/session-target.ts";
import { useTexts } from "../texts/texts-context.ts";
import { ContextMenu, type MenuEntry } from "../ui/Menu.tsx";
import { type Dragged, type LayoutTab, type PaneId, paneIdOf, targetsOf } from "./layout.ts";
import { Switcher, TabMenu } from "./Switcher.tsx";
import { SignIcon, strongest, type TabSign } from "./TabSign.tsx";

/** The id of the element that a tab controls. */
export const PANES_ID = "sbx-panes";

export type TabBarProps = {
  readonly tabs: readonly LayoutTab[];
  readonly titleOf: (target: SessionTarget) => string;
  readonly signOf: (id: PaneId) => TabSign | undefined;
  readonly current: number;
  /** Whether the window is too small for tabs: it has the switcher alone. */
  readonly isSingle: boolean;
  readonly dragged: Dragged | undefined;
  readonly onDrag: (dragged: number | undefined) => void;
  /** Something was dropped before the tab at `index`. */
  readonly onDrop: (index: number) => void;
  readonly onShow: (index: number) => void;
  readonly onShowPane: (target: SessionTarget) => void;
  readonly onMove: (index: number, to: number) => void;
  readonly onClose: (index: number) => void;
  /** undefined: names can't be changed. */
  readonly onNaming: ((index: number) => void) | undefined;
  /** In place of the name of a tab, while that is being changed. */
  readonly fieldOf: (index: number) => ReactNode;
  /** undefined for a guest, who has one session. */
  readonly onNew: (() => void) | undefined;
  /** What a tab's menu shows. */
  readonly menuOf: (index: number) => readonly MenuEntry[];
  /** Focuses the terminal. */
  readonly onDone: () => void;
  readonly isKept: boolean;
  readonly children: ReactNode;
};

export function TabBar(props: TabBarProps) {
  const { tabs, current } = props;
  const { desk: words, terminal } = useTexts();
  const list = useRef<HTMLDivElement>(null);
  const isOverflowing = useOverflow(list, tabs.length, current);
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
    else if (event.key === "F2") props.onNaming?.(index);
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
  const end = (
    <>
      {props.onNew === undefined ? null : (
        <button
          type="button"
          className="sbx-quiet sbx-tool"
          aria-label={words.new}
          title={words.new}
          onClick={props.onNew}
        >
          <Plus size={16} aria-hidden />
        </button>
      )}
      <span className="sbx-tabs-room" role="status">
        {props.isKept ? "" : words.notKept}
      </span>
      {props.children}
    </>
  );
  if (props.isSingle) {
    return (
      <div className="sbx-tabs" data-single="true">
        <Switcher tabs={tabs} current={current} titleOf={props.titleOf} onShow={props.onShowPane} />
        {end}
      </div>
    );
  }
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
          const name = words.tab(targetsOf(root).map(props.titleOf));
          const isCurrent = index === current;
          const [, start = "", number] = /^(.*?)( \d+)?$/s.exec(name) ?? [];
          const field = props.fieldOf(index);
          const sign = strongest(targetsOf(root).map((target) => props.signOf(paneIdOf(target))));
          return (
            <ContextMenu
              key={targetsOf(root).map(paneIdOf).join(" ")}
              entries={() => props.menuOf(index)}
              onDone={props.onDone}
            >
              {/* biome-ignore lint/a11y/noStaticElementInteractions: a handle for the mouse; the tab in it has the keys. */}
              <div
                className="sbx-tab"
                role="presentation"
                data-current={isCurrent}
                draggable={field === undefined}
                onDragStart={(event) => {
                  event.dataTransfer.effectAllowed = "move";
                  event.dataTransfer.setData("text/plain", name);
                  props.onDrag(index);
                }}
                onDragEnd={() => props.onDrag(undefined)}
                onDragOver={allow}
                onDrop={(event) => drop(event, index)}
                onAuxClick={({ button }) => button === 1 && props.onClose(index)}
                onDoubleClick={() => props.onNaming?.(index)}
              >
                {field}
                <button
                  type="button"
                  role="tab"
                  className="sbx-tab-name"
                  aria-selected={isCurrent}
                  aria-controls={PANES_ID}
                  aria-keyshortcuts="Delete F2"
                  tabIndex={isCurrent ? 0 : -1}
                  title={`${name}\n${targetsOf(root)
                    .map(({ sandbox, session }) => terminal.place(sandbox, session))
                    .join(", ")}`}
                  onClick={() => props.onShow(index)}
                  onKeyDown={(event) => onKey(event, index)}
                >
                  {sign === undefined ? null : <SignIcon sign={sign} />}
                  <span>
                    <i>{start}</i>
                    {number}
                  </span>
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
                  <X size={14} aria-hidden />
                </button>
              </div>
            </ContextMenu>
          );
        })}
      </div>
      {isOverflowing ? (
        <TabMenu
          {...{ tabs, current, titleOf: props.titleOf, signOf: props.signOf }}
          onShow={props.onShowPane}
          onDone={props.onDone}
        />
      ) : null}
      {end}
    </div>
  );
}

/** Keeps the whole of the current tab in view, whatever its name becomes. @returns Whether tabs are out of view. */
function useOverflow(list: RefObject<HTMLDivElement | null>, count: number, current: number): boolean {
  const [isOverflowing, setOverflowing] = useState(false);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    const measure = () => {
      setOverflowing(element.scrollWidth > element.clientWidth);
      element.children[current]?.scrollIntoView({ block: "nearest", inline: "nearest" });
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    for (const tab of element.children) observer.observe(tab);
    return () => observer.disconnect();
  }, [list, count, current]);
  return isOverflowing;
}
