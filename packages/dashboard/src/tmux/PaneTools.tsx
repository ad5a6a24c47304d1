// The line above a session's panes: its windows as tabs, and what can be done with the pane that has the focus.

import { type DragEvent, useState, useSyncExternalStore } from "react";
import { nextPane, nextWindow } from "../session/panes-model.ts";
import type { SessionPanes } from "../session/session-panes.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PaneWindows } from "./PaneWindows.tsx";

export type PaneToolsProps = {
  readonly panes: SessionPanes;
  readonly mayOrder: boolean;
  /** The pane or the window that is being dragged. */
  readonly dragged: string | undefined;
  readonly onDrag: (dragged: string | undefined) => void;
  /** A button was pressed, or a question answered: the keyboard is the terminal's again. */
  readonly onDone: () => void;
};

export function PaneTools({ panes, mayOrder, dragged, onDrag, onDone }: PaneToolsProps) {
  const { panes: words } = useTexts();
  const { told, focus } = useSyncExternalStore(panes.subscribe, panes.getState);
  /** The pane that was asked to be closed, which a person is asked about. */
  const [asked, setAsked] = useState<string>();
  const [naming, setNaming] = useState<string>();
  if (told === undefined) return null;
  const next = focus === undefined ? undefined : nextPane(told, focus);
  const otherWindow = nextWindow(told);
  const isZoomed = told.windows.some(({ active, zoomed }) => active && zoomed);
  const closing = told.panes.some(({ id }) => id === asked) ? asked : undefined;
  const answer = () => {
    setAsked(undefined);
    onDone();
  };
  const onFocus = (act: (pane: string) => void) => () => {
    if (focus !== undefined) act(focus);
  };
  const ordering = (order: (pane: string) => void) => (pane: string) => {
    order(pane);
    onDone();
  };
  const button = ([sign, said]: readonly [string, string], act: (pane: string) => void, more = {}) => (
    <button
      type="button"
      className="sbx-quiet"
      aria-label={said}
      title={said}
      disabled={!mayOrder}
      onClick={onFocus(act)}
      {...more}
    >
      {sign}
    </button>
  );
  return (
    <div className="sbx-tmux-tools">
      <PaneWindows
        panes={panes}
        windows={told.windows}
        mayOrder={mayOrder}
        dragged={dragged}
        onDrag={onDrag}
        naming={naming}
        onNaming={setNaming}
        onDone={onDone}
      />
      <button
        type="button"
        className="sbx-quiet"
        aria-label={words.newWindow}
        title={words.newWindow}
        disabled={!mayOrder}
        onClick={() => {
          panes.newWindow();
          onDone();
        }}
      >
        +
      </button>
      {button(words.renameWindow, () => setNaming(told.windows.find(({ active }) => active)?.id))}
      <span className="sbx-tmux-room" />
      {button(
        words.splitRight,
        ordering((pane) => panes.split(pane, "right")),
      )}
      {button(
        words.splitBelow,
        ordering((pane) => panes.split(pane, "below")),
      )}
      {next === undefined && otherWindow === undefined
        ? null
        : button(
            words.move,
            ordering((pane) => next !== undefined && panes.swap(pane, next.id)),
            {
              draggable: mayOrder,
              onDragStart: (event: DragEvent) => {
                event.dataTransfer.effectAllowed = "move";
                event.dataTransfer.setData("text/plain", focus ?? "");
                onDrag(focus);
              },
              onDragEnd: () => {
                onDrag(undefined);
                onDone();
              },
            },
          )}
      {otherWindow === undefined
        ? null
        : button(
            words.joinNext,
            ordering((pane) => panes.joinWindow(pane, otherWindow.id)),
          )}
      {next === undefined
        ? null
        : button(
            words.breakOut,
            ordering((pane) => panes.act("break", pane)),
          )}
      {next === undefined && !isZoomed
        ? null
        : button(
            words.zoom,
            ordering((pane) => panes.act("zoom", pane)),
            { "aria-pressed": isZoomed },
          )}
      {closing === undefined ? (
        button(words.close, setAsked)
      ) : (
        // It stays while the focus moves, by a click or by tmux: it names its pane, and ends that one.
        // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form.
        <span
          className="sbx-tmux-question"
          role="group"
          aria-label={words.closing(closing)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.preventDefault();
            answer();
          }}
        >
          <span>{words.closing(closing)}</span>
          <button
            type="button"
            className="sbx-quiet sbx-tmux-closing"
            disabled={!mayOrder}
            ref={takeFocus}
            onClick={() => {
              panes.act("close", closing);
              answer();
            }}
          >
            {words.closeNow}
          </button>
          <button type="button" className="sbx-quiet" onClick={answer}>
            {words.keep}
          </button>
        </span>
      )}
    </div>
  );
}

/** Of an element that comes in the place of the one that was pressed. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus();
}
