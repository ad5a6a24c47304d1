// What a pane's line says at its start: its name, which can be changed in place, and is the mouse's handle.

import { SquareTerminal } from "lucide-react";
import { useTexts } from "../texts/texts-context.ts";
import type { PaneId } from "./layout.ts";
import { NameField } from "./NameField.tsx";

export type PaneHeadingProps = {
  readonly id: PaneId;
  readonly title: string;
  /** Sandbox and session. */
  readonly place: string;
  /** Whether the title is being changed. */
  readonly isNaming: boolean;
  /** undefined: it can't be. */
  readonly onNaming: (() => void) | undefined;
  /** undefined: unchanged. */
  readonly onName: (name: string | undefined) => void;
  /** undefined: it can't be dragged. */
  readonly onDrag: ((id: PaneId | undefined) => void) | undefined;
};

export function PaneHeading({ id, title, place, isNaming, onNaming, onName, onDrag }: PaneHeadingProps) {
  const words = useTexts().desk;
  if (isNaming) return <NameField label={words.nameHere} title={title} onName={onName} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a handle for the mouse; keys move and name panes by commands.
    <span
      className="sbx-heading"
      title={onDrag === undefined ? place : `${place}\n${words.drag}`}
      draggable={onDrag !== undefined}
      onDragStart={(event) => {
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", title);
        onDrag?.(id);
      }}
      onDragEnd={() => onDrag?.(undefined)}
      onDoubleClick={onNaming}
    >
      <SquareTerminal size={14} aria-hidden />
      <span>{title}</span>
    </span>
  );
}
