// The menu of a pane, at the end of its line.

import { EllipsisVertical } from "lucide-react";
import { useTexts } from "../texts/texts-context.ts";
import { DropdownMenu } from "../ui/Menu.tsx";
import type { WorkspaceCommand } from "../workspace/layout-keys.ts";
import { menuOf, PANE_COMMANDS } from "./menus.ts";

export type PaneMenuProps = {
  readonly title: string;
  /** Sandbox and session. */
  readonly place: string;
  readonly hasOthers: boolean;
  readonly may: (command: WorkspaceCommand) => boolean;
  readonly onCommand: (command: WorkspaceCommand) => void;
  readonly onDone: () => void;
};

export function PaneMenu({ title, place, hasOthers, may, onCommand, onDone }: PaneMenuProps) {
  const texts = useTexts();
  const commands = PANE_COMMANDS.filter(({ command, isForOthers }) => may(command) && (hasOthers || !isForOthers));
  return (
    <DropdownMenu
      title={
        <>
          {title}
          <small>{place}</small>
        </>
      }
      entries={() => menuOf(commands, texts, onCommand)}
      onDone={onDone}
    >
      <button type="button" className="sbx-quiet sbx-tool" aria-label={texts.desk.paneMenu} title={texts.desk.paneMenu}>
        <EllipsisVertical size={16} aria-hidden />
      </button>
    </DropdownMenu>
  );
}
