// The menu of a pane, at the end of its line.

import { EllipsisVertical } from "lucide-react";
import { useTexts } from "../texts/texts-context.ts";
import { DropdownMenu, type MenuEntry } from "../ui/Menu.tsx";

export type PaneMenuProps = {
  readonly title: string;
  /** Sandbox and session. */
  readonly place: string;
  readonly entries: () => readonly MenuEntry[];
  readonly onDone: () => void;
};

export function PaneMenu({ title, place, entries, onDone }: PaneMenuProps) {
  const words = useTexts().desk;
  return (
    <DropdownMenu
      title={
        <>
          {title}
          <small>{place}</small>
        </>
      }
      entries={entries}
      onDone={onDone}
    >
      <button type="button" className="sbx-quiet sbx-tool" aria-label={words.paneMenu} title={words.paneMenu}>
        <EllipsisVertical size={16} aria-hidden />
      </button>
    </DropdownMenu>
  );
}
