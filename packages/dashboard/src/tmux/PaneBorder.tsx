// A pane's right or lower border: dragged or moved by arrow keys, it resizes the pane by whole cells.

import { type CSSProperties, type KeyboardEvent, type PointerEvent, useRef } from "react";
import type { Border } from "../session/panes-model.ts";
import { dragged } from "../session/panes-model.ts";
import { useTexts } from "../texts/texts-context.ts";

export type PaneBorderProps = {
  readonly border: Border;
  readonly cell: { readonly width: number; readonly height: number };
  readonly onResize: (cols: number, rows: number) => void;
};

export function PaneBorder({ border, cell, onResize }: PaneBorderProps) {
  const { panes: words } = useTexts();
  const { side, pane, left, top, width, height } = border;
  const isRight = side === "right";
  /** Start of the drag: pointer position and border. */
  const drag = useRef<{ readonly at: number; readonly border: Border; by: number }>(undefined);
  const resize = (from: Border, by: number) => {
    const size = dragged(from, by);
    if (size !== undefined) onResize(size.cols, size.rows);
  };
  const at = ({ clientX, clientY }: PointerEvent) => (isRight ? clientX : clientY);
  const onMove = (event: PointerEvent) => {
    const from = drag.current;
    if (from === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const by = Math.round((at(event) - from.at) / (isRight ? cell.width : cell.height));
    if (by === from.by) return;
    from.by = by;
    // Back at the start `dragged` requests nothing.
    if (by === 0) onResize(from.border.pane.cols, from.border.pane.rows);
    else resize(from.border, by);
  };
  const onKey = (event: KeyboardEvent) => {
    const [less, more] = isRight ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const by = event.key === less ? -1 : event.key === more ? 1 : 0;
    if (by === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    resize(border, by);
  };
  const style: CSSProperties = { left: `${left}%`, top: `${top}%` };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is no hr.
    <div
      className="sbx-tmux-border"
      role="separator"
      tabIndex={0}
      aria-orientation={isRight ? "vertical" : "horizontal"}
      aria-label={words.border}
      aria-valuenow={isRight ? pane.cols : pane.rows}
      style={
        isRight
          ? { ...style, width: cell.width, height: `${height}%` }
          : { ...style, width: `${width}%`, height: cell.height }
      }
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { at: at(event), border, by: 0 };
      }}
      onPointerMove={onMove}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onKeyDown={onKey}
    />
  );
}
