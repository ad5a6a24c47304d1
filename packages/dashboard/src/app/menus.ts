// The entries of the menus of tabs and panes. Pure.

import {
  CircleStop,
  ClipboardCopy,
  FolderTree,
  type LucideIcon,
  Maximize2,
  PanelTop,
  PencilLine,
  RotateCcw,
  Search,
  Share2,
  SquareSplitHorizontal,
  SquareSplitVertical,
  Upload,
  X,
} from "lucide-react";
import { wordsOfCommand } from "../find/palette-commands.ts";
import { listOfKeys, type OwnKeys } from "../keys/own-keys.ts";
import type { Texts } from "../texts/texts.ts";
import type { MenuEntry } from "../ui/Menu.tsx";
import { keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";

type MenuCommand = {
  readonly command: WorkspaceCommand;
  readonly icon?: LucideIcon;
  readonly isApart?: boolean;
  /** Whether it means nothing to a single pane. */
  readonly isForOthers?: boolean;
};

const PANE_COMMANDS: readonly MenuCommand[] = [
  { command: { do: "terminal", shortcut: "search" }, icon: Search },
  { command: { do: "terminal", shortcut: "copy-output" }, icon: ClipboardCopy },
  { command: { do: "files" }, icon: FolderTree },
  { command: { do: "upload" }, icon: Upload },
  { command: { do: "divide", direction: "right" }, icon: SquareSplitHorizontal, isApart: true },
  { command: { do: "divide", direction: "down" }, icon: SquareSplitVertical },
  { command: { do: "maximize" }, icon: Maximize2, isForOthers: true },
  { command: { do: "own-tab" }, icon: PanelTop, isForOthers: true },
  { command: { do: "rename" }, icon: PencilLine, isApart: true },
  { command: { do: "share" }, icon: Share2 },
  { command: { do: "close" }, icon: X, isApart: true },
  { command: { do: "end" }, icon: CircleStop },
];

const TAB_COMMANDS: readonly MenuCommand[] = [
  { command: { do: "rename" }, icon: PencilLine },
  { command: { do: "share" }, icon: Share2 },
  { command: { do: "move-tab", by: -1 }, isApart: true, isForOthers: true },
  { command: { do: "move-tab", by: 1 }, isForOthers: true },
  { command: { do: "reopen" }, icon: RotateCcw },
  { command: { do: "close-tab" }, icon: X, isApart: true },
  { command: { do: "close-others" }, isForOthers: true },
  { command: { do: "end" }, icon: CircleStop, isApart: true },
];

/** @param hasOthers Whether there is another pane, or tab. */
type EntriesOf = (
  hasOthers: boolean,
  may: (command: WorkspaceCommand) => boolean,
  texts: Texts,
  own: OwnKeys,
  onCommand: (command: WorkspaceCommand) => void,
) => MenuEntry[];

const entriesOf =
  (commands: readonly MenuCommand[]): EntriesOf =>
  (hasOthers, may, texts, own, onCommand) =>
    commands
      .filter(({ command, isForOthers }) => may(command) && (hasOthers || isForOthers !== true))
      .map(({ command, icon, isApart = false }) => ({
        label: wordsOfCommand(command, texts),
        icon,
        isApart,
        keys: listOfKeys(keysOfCommand(command, own))[0],
        act: () => onCommand(command),
      }));

export const paneEntries = entriesOf(PANE_COMMANDS);
export const tabEntries = entriesOf(TAB_COMMANDS);
