// The panes at their positions. All are siblings in a fixed order, so that moving one does not remount its terminal or lose the focus;
// panes of other tabs are out of view.

import { type CSSProperties, type DragEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { useTexts } from "../texts/texts-context.ts";
import {
  type Box,
  type Direction,
  type Divider,
  type Dragged,
  dividersOf,
  type LayoutTab,
  type PaneId,
  panesOf,
  targetsOf,
  WHOLE,
} from "./layout.ts";
import { edgeAt } from "./layout-keys.ts";
import { PANES_ID } from "./TabBar.tsx";

export type PanesProps = {
  readonly tabs: readonly LayoutTab[];
  /** The title of each pane. */
  readonly titleOf: (target: SessionTarget) => string;
  readonly current: number;
  /** Whether only the focused pane is shown, over the whole room. */
  readonly isSingle: boolean;
  readonly shown: ReadonlySet<PaneId>;
  readonly dragged: Dragged | undefined;
  readonly onDrop: (at: PaneId, direction: Direction) => void;
  readonly onFocus: (id: PaneId) => void;
  readonly onResize: (path: string, share: number) => void;
  readonly onEqualize: (path: string) => void;
  /** @param hasOthers Whether others are beside it. */
  readonly children: (id: PaneId, target: SessionTarget, hasOthers: boolean, isMaximized: boolean) => ReactNode;
};

type PanePosition = {
  readonly target: SessionTarget;
  readonly box: Box;
  readonly tab: number;
  readonly hasOthers: boolean;
  readonly isMaximized: boolean;
};

const STEP = 0.05;

export function Panes(props: PanesProps) {
  const { tabs, current, shown, dragged, isSingle } = props;
  const { desk: words } = useTexts();
  const ground = useRef<HTMLDivElement>(null);
  const positions = new Map<PaneId, PanePosition>();
  for (const [tab, { root, focus, isMaximized: isAnyMaximized = false }] of tabs.entries()) {
    const panes = panesOf(root);
    const hasOthers = !isSingle && panes.length > 1;
    for (const { id, target, box } of panes) {
      const isMaximized = hasOthers && isAnyMaximized && id === focus;
      positions.set(id, { target, box: isSingle || isMaximized ? WHOLE : box, tab, hasOthers, isMaximized });
    }
  }
  const seen = tabs[current];
  const focus = seen?.focus;
  const showsOne = isSingle || seen?.isMaximized === true;
  const inTab = seen === undefined ? [] : targetsOf(seen.root).map(props.titleOf);
  return (
    <div className="sbx-panes" id={PANES_ID} ref={ground} role="tabpanel" aria-label={words.tab(inTab)}>
      {[...shown].map((id) => {
        const pane = positions.get(id);
        if (pane === undefined) return null;
        const isSeen = pane.tab === current && (!showsOne || id === focus);
        return (
          <section
            className="sbx-pane"
            key={id}
            aria-label={words.pane(props.titleOf(pane.target))}
            data-pane={id}
            data-focus={isSeen && id === focus}
            data-seen={isSeen}
            data-single={!pane.hasOthers}
            inert={!isSeen}
            style={styleOf(pane.box)}
            onFocusCapture={() => props.onFocus(id)}
          >
            {props.children(id, pane.target, pane.hasOthers, pane.isMaximized)}
            {dragged !== undefined && isSeen && dragged !== id && dragged !== current ? (
              <DropGround onDrop={(direction) => props.onDrop(id, direction)} />
            ) : null}
          </section>
        );
      })}
      {(seen === undefined || showsOne ? [] : dividersOf(seen.root)).map((divider) => (
        <DividerHandle
          key={divider.path}
          {...{ divider, ground }}
          onResize={props.onResize}
          onEqualize={props.onEqualize}
        />
      ))}
    </div>
  );
}

function DropGround({ onDrop }: { readonly onDrop: (direction: Direction) => void }) {
  const [edge, setEdge] = useState<Direction>();
  const edgeOf = ({ currentTarget, clientX, clientY }: DragEvent) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    return edgeAt((clientX - left) / width, (clientY - top) / height);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only for what a mouse drags; keys move panes by commands.
    <div
      className="sbx-drop-ground"
      data-edge={edge}
      onDragOver={(event) => {
        event.preventDefault();
        setEdge(edgeOf(event));
      }}
      onDragLeave={() => setEdge(undefined)}
      onDrop={(event) => {
        event.preventDefault();
        onDrop(edgeOf(event));
      }}
    />
  );
}

type DividerProps = {
  readonly divider: Divider;
  readonly ground: { readonly current: HTMLDivElement | null };
  readonly onResize: PanesProps["onResize"];
  readonly onEqualize: PanesProps["onEqualize"];
};

function DividerHandle({ divider, ground, onResize, onEqualize }: DividerProps) {
  const { axis, box, path, share } = divider;
  const words = useTexts().desk;
  const isRow = axis === "row";
  const move = (event: PointerEvent<HTMLElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || ground.current === null) return;
    const whole = ground.current.getBoundingClientRect();
    const at = isRow ? (event.clientX - whole.left) / whole.width : (event.clientY - whole.top) / whole.height;
    onResize(path, isRow ? (at - box.x) / box.width : (at - box.y) / box.height);
  };
  const style = isRow
    ? { left: percent(box.x + box.width * share), top: percent(box.y), height: percent(box.height) }
    : { left: percent(box.x), top: percent(box.y + box.height * share), width: percent(box.width) };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is no hr.
    <div
      className="sbx-divider"
      role="separator"
      tabIndex={0}
      aria-orientation={isRow ? "vertical" : "horizontal"}
      aria-label={words.divider}
      title={words.dividerTitle}
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={10}
      aria-valuemax={90}
      style={style}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={move}
      onDoubleClick={() => onEqualize(path)}
      onKeyDown={(event) => {
        const [less, more] = isRow ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
        const change = event.key === less ? -STEP : event.key === more ? STEP : 0;
        if (change === 0) return;
        event.preventDefault();
        onResize(path, share + change);
      }}
    />
  );
}

function styleOf({ x, y, width, height }: Box): CSSProperties {
  return { left: percent(x), top: percent(y), width: percent(width), height: percent(height) };
}

function percent(of: number): string {
  return `${of * 100}%`;
}
