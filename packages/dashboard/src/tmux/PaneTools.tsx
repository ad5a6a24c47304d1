// The bar above a session's panes: windows as tabs, and actions on the focused pane.

import {
  ArrowLeftRight,
  ArrowRightToLine,
  type LucideIcon,
  Maximize2,
  PanelTop,
  PencilLine,
  Plus,
  SquareSplitHorizontal,
  SquareSplitVertical,
  X,
} from "lucide-react";
import { type DragEvent, useState, useSyncExternalStore } from "react";
import { nextPane, nextWindow } from "../session/panes-model.ts";
import type { SessionPanes } from "../session/session-panes.ts";
import { takeFocus } from "../terminal/terminal-keys.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PaneWindows } from "./PaneWindows.tsx";

export type PaneToolsProps = {
  readonly panes: SessionPanes;
  readonly mayOrder: boolean;
  /** The dragged pane or window. */
  readonly dragged: string | undefined;
  readonly onDrag: (dragged: string | undefined) => void;
  /** Called after an action: focuses the pane. */
  readonly onDone: () => void;
};

export function PaneTools({ panes, mayOrder, dragged, onDrag, onDone }: PaneToolsProps) {
  const { panes: words } = useTexts();
  const { list, focus } = useSyncExternalStore(panes.subscribe, panes.getState);
  /** The pane whose closing a person is asked about. */
  const [closingId, setClosingId] = useState<string>();
  const [naming, setNaming] = useState<string>();
  if (list === undefined) return null;
  const next = focus === undefined ? undefined : nextPane(list, focus);
  const otherWindow = nextWindow(list);
  const isZoomed = list.windows.some(({ active, zoomed }) => active && zoomed);
  const closing = list.panes.some(({ id }) => id === closingId) ? closingId : undefined;
  const answer = () => {
    setClosingId(undefined);
    onDone();
  };
  const onFocus = (act: (pane: string) => void) => () => {
    if (focus !== undefined) act(focus);
  };
  const ordering = (order: (pane: string) => void) => (pane: string) => {
    order(pane);
    onDone();
  };
  const button = (Icon: LucideIcon, label: string, act: (pane: string) => void, more = {}) => (
    <button
      type="button"
      className="sbx-quiet sbx-tool"
      aria-label={label}
      title={label}
      disabled={!mayOrder}
      onClick={onFocus(act)}
      {...more}
    >
      <Icon size={14} aria-hidden />
    </button>
  );
  return (
    <div className="sbx-tmux-tools">
      <PaneWindows
        panes={panes}
        windows={list.windows}
        mayOrder={mayOrder}
        dragged={dragged}
        onDrag={onDrag}
        naming={naming}
        onNaming={setNaming}
        onDone={onDone}
      />
      <button
        type="button"
        className="sbx-quiet sbx-tool"
        aria-label={words.newWindow}
        title={words.newWindow}
        disabled={!mayOrder}
        onClick={() => {
          panes.newWindow();
          onDone();
        }}
      >
        <Plus size={14} aria-hidden />
      </button>
      {button(PencilLine, words.renameWindow, () => setNaming(list.windows.find(({ active }) => active)?.id))}
      <span className="sbx-tmux-room" />
      {button(
        SquareSplitHorizontal,
        words.splitRight,
        ordering((pane) => panes.split(pane, "right")),
      )}
      {button(
        SquareSplitVertical,
        words.splitBelow,
        ordering((pane) => panes.split(pane, "below")),
      )}
      {next === undefined && otherWindow === undefined
        ? null
        : button(
            ArrowLeftRight,
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
            ArrowRightToLine,
            words.joinNext,
            ordering((pane) => panes.joinWindow(pane, otherWindow.id)),
          )}
      {next === undefined
        ? null
        : button(
            PanelTop,
            words.breakOut,
            ordering((pane) => panes.act("break", pane)),
          )}
      {next === undefined && !isZoomed
        ? null
        : button(
            Maximize2,
            words.zoom,
            ordering((pane) => panes.act("zoom", pane)),
            { "aria-pressed": isZoomed },
          )}
      {closing === undefined ? (
        button(X, words.close, setClosingId)
      ) : (
        // The question stays while the focus moves, and names its pane.
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
