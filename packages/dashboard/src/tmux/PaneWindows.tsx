// The windows of a session under tmux, as tabs. Arrows move the focus, Enter shows a window, Shift+arrow moves it, F2 renames it; the mouse
// drags windows to other positions, and panes into windows.

import { type DragEvent, type KeyboardEvent, useRef } from "react";
import type { PanesMessage } from "sandbox-stdio/core";
import { windowName } from "../session/panes-model.ts";
import type { SessionPanes } from "../session/session-panes.ts";
import { useTexts } from "../texts/texts-context.ts";

export type PaneWindowsProps = {
  readonly panes: SessionPanes;
  readonly windows: PanesMessage["windows"];
  readonly mayOrder: boolean;
  /** The dragged pane or window. */
  readonly dragged: string | undefined;
  readonly onDrag: (dragged: string | undefined) => void;
  /** The window being renamed. */
  readonly naming: string | undefined;
  readonly onNaming: (window: string | undefined) => void;
  /** Called after an action: focuses the pane. */
  readonly onDone: () => void;
};

export function PaneWindows(props: PaneWindowsProps) {
  const { panes, windows, mayOrder, dragged, onDrag, naming, onNaming, onDone } = props;
  const { panes: words } = useTexts();
  const list = useRef<HTMLDivElement>(null);
  /** Whether renaming started at its tab, which gets the focus back. */
  const isNamedAtTab = useRef(false);
  const focusTab = (window: string | undefined) => {
    const tab = list.current?.querySelector(`[data-window="${window}"]`);
    if (tab instanceof HTMLElement) tab.focus();
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    const id = windows[index]?.id;
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (id === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const other = windows[index + by]?.id;
    if (by !== 0 && event.shiftKey) {
      if (mayOrder && other !== undefined) panes.moveWindow(id, other);
    } else if (by !== 0) focusTab(other);
    else if (event.key === "F2" && mayOrder) {
      isNamedAtTab.current = true;
      onNaming(id);
    } else return;
    event.preventDefault();
  };
  const allow = (event: DragEvent) => {
    if (dragged !== undefined) event.preventDefault();
  };
  const drop = (event: DragEvent, window: string | undefined) => {
    event.preventDefault();
    event.stopPropagation();
    onDrag(undefined);
    if (dragged === undefined) return;
    if (!dragged.startsWith("@")) {
      if (window === undefined) panes.act("break", dragged);
      else panes.joinWindow(dragged, window);
    } else if (window !== undefined) panes.moveWindow(dragged, window);
  };
  const named = (window: string, text: string) => {
    panes.rename(window, windowName(text));
    endNaming(window);
  };
  const endNaming = (window: string) => {
    onNaming(undefined);
    if (isNamedAtTab.current) focusTab(window);
    else onDone();
    isNamedAtTab.current = false;
  };
  return (
    <>
      <div
        className="sbx-tmux-windows"
        role="tablist"
        aria-label={words.windows}
        ref={list}
        onDragOver={allow}
        onDrop={(event) => drop(event, undefined)}
      >
        {windows.map(({ id, name, active }, index) => (
          <button
            key={id}
            type="button"
            role="tab"
            className="sbx-tmux-tab"
            aria-selected={active}
            aria-keyshortcuts="F2 Shift+ArrowLeft Shift+ArrowRight"
            data-window={id}
            disabled={!mayOrder && !active}
            draggable={mayOrder}
            onClick={() => {
              panes.show(id);
              onDone();
            }}
            onKeyDown={(event) => onKey(event, index)}
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = "move";
              event.dataTransfer.setData("text/plain", name);
              onDrag(id);
            }}
            onDragEnd={() => {
              onDrag(undefined);
              onDone();
            }}
            onDragOver={allow}
            onDrop={(event) => drop(event, id)}
          >
            {words.window(index, name)}
          </button>
        ))}
      </div>
      {naming === undefined ? null : (
        <input
          className="sbx-tmux-name"
          aria-label={words.windowName}
          maxLength={64}
          defaultValue={windows.find(({ id }) => id === naming)?.name}
          ref={takeFocus}
          onBlur={() => {
            isNamedAtTab.current = false;
            onNaming(undefined);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") named(naming, event.currentTarget.value);
            else if (event.key === "Escape") endNaming(naming);
            else return;
            // Otherwise Escape would focus the terminal.
            event.stopPropagation();
            event.preventDefault();
          }}
        />
      )}
    </>
  );
}

function takeFocus(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}
