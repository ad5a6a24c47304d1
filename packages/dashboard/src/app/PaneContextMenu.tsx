// What the right button offers in a terminal: the selection, the link under the pointer, and what can be done with the pane.

import { ClipboardPaste, Copy, ExternalLink, Link2 } from "lucide-react";
import { type MouseEvent, type ReactNode, useRef } from "react";
import type { TerminalSession } from "../session/terminal-session.ts";
import { useTexts } from "../texts/texts-context.ts";
import { ContextMenu, type MenuEntry } from "../ui/Menu.tsx";

export type PaneContextMenuProps = {
  readonly session: () => TerminalSession | undefined;
  /** The entries of the pane's own menu. */
  readonly paneEntries: () => readonly MenuEntry[];
  readonly onDone: () => void;
  readonly children: ReactNode;
};

/** Fingers select by a long press, which would open the menu. */
const FINGERS = "(pointer: coarse)";

export function PaneContextMenu({ session, paneEntries, onDone, children }: PaneContextMenuProps) {
  const words = useTexts().desk.terminalMenu;
  const link = useRef<string>(undefined);
  const entries = (): MenuEntry[] => {
    const live = session();
    if (live === undefined) return [];
    const { current: uri } = link;
    const { hasSelection } = live.getView();
    const mayType = live.connection.mayType;
    const ofLink: MenuEntry[] = [
      { label: words.openLink, icon: ExternalLink, act: () => uri !== undefined && live.guard.followLink(uri, false) },
      { label: words.copyLink, icon: Link2, act: () => void navigator.clipboard.writeText(uri ?? "") },
    ];
    return [
      ...(uri === undefined ? [] : ofLink),
      { label: words.copy, icon: Copy, keys: "Ctrl+Shift+C", isDisabled: !hasSelection, act: () => live.screen.copy() },
      {
        label: words.paste,
        icon: ClipboardPaste,
        isDisabled: !mayType,
        act: () => void live.guard.pasteClipboard().then(onDone),
      },
      ...paneEntries().map((entry, i) => (i === 0 ? { ...entry, isApart: true } : entry)),
    ];
  };
  const onPress = (event: MouseEvent) => {
    const live = session();
    const { target } = event;
    // A file has its own.
    if (target instanceof Element && target.closest('[role="treeitem"]') !== null) return;
    link.current = live?.getView().link;
    const isOurs = target instanceof Element && target.closest(".xterm") !== null && !event.shiftKey;
    const isProgram = live !== undefined && live.screen.terminal.modes.mouseTrackingMode !== "none";
    // With Shift, and in fields, the browser's own menu comes; a program that asked for the mouse has the button.
    if (!isOurs || isProgram) event.stopPropagation();
    if (isOurs && isProgram) event.preventDefault();
  };
  return (
    <ContextMenu entries={entries} onDone={onDone} isOff={matchMedia(FINGERS).matches}>
      <div className="sbx-pane-body" onContextMenuCapture={onPress}>
        {children}
      </div>
    </ContextMenu>
  );
}
