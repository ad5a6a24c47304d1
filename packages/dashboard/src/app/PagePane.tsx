// One pane of the page: its terminal, with the page's own heading and menu in the line above it.

import { ClipboardPaste, Copy, EllipsisVertical, ExternalLink, LayoutList, Link2, SquareTerminal } from "lucide-react";
import { type MouseEvent, type ReactNode, useRef } from "react";
import { defined } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import { useOwnKeys } from "../keys/own-keys.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { chosenProps } from "../settings/chosen-props.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PanedTerminal } from "../tmux/PanedTerminal.tsx";
import { ContextMenu, DropdownMenu, type MenuEntry } from "../ui/Menu.tsx";
import type { PaneId } from "../workspace/layout.ts";
import { focus } from "../workspace/layout-edits.ts";
import { keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import { FirstSteps } from "./FirstSteps.tsx";
import { paneEntries } from "./menus.ts";
import type { Page, PageState } from "./page.ts";
import { paneProps, type SessionActions } from "./session-actions.ts";
import type { Run } from "./use-commands.ts";
import type { LiveSessions } from "./use-live-sessions.ts";

export type PagePaneProps = Omit<PaneHeadingProps, "place" | "onDoubleClick"> & {
  /** undefined: it can't be named. */
  readonly onNaming: (() => void) | undefined;
  /** What the session is called beside what runs. */
  readonly name: string;
  readonly page: Page;
  readonly state: Extract<PageState, { phase: "ready" }>;
  /** The person's preferences. */
  readonly chosen: ReturnType<typeof chosenProps>;
  readonly id: PaneId;
  readonly at: SessionTarget;
  readonly hasOthers: boolean;
  readonly isMaximized: boolean;
  readonly run: Run;
  readonly actions: SessionActions;
  readonly live: LiveSessions;
  /** Where the status bar goes; null: another pane has it. */
  readonly statusPlace: HTMLElement | null;
  /** Whether the line above goes there too. */
  readonly isCompact: boolean;
};

export function PagePane(props: PagePaneProps) {
  const {
    page,
    state,
    chosen,
    id,
    at,
    hasOthers,
    isMaximized,
    run,
    actions,
    live,
    statusPlace,
    isCompact,
    title,
    name,
    ...heading
  } = props;
  const texts = useTexts();
  const own = useOwnKeys();
  const place = texts.terminal.place(at.sandbox, at.session);
  const entries = () =>
    paneEntries(hasOthers, run.may, texts, own, (command) => {
      state.workspace.editHere((now) => focus(now, id));
      run(command, at);
    });
  const onDone = () => live.focusTerminal(id);
  const maximize = () => {
    state.workspace.editHere((now) => focus(now, id));
    run(MAXIMIZE);
  };
  return (
    <PaneContextMenu session={() => live.sessionOf(id)} paneEntries={entries} onDone={onDone}>
      <PanedTerminal
        {...chosen}
        name={name}
        {...paneProps(page, state, at)}
        onClose={() => actions.closePane(id)}
        onSettings={() => run({ do: "settings" })}
        onTitle={(_, facts) => live.onFacts(id, facts)}
        onReady={(session) => live.onReady(id, session)}
        statusBar={statusPlace}
        isCompact={isCompact}
        heading={
          <PaneHeading
            {...{ ...heading, id, place }}
            // The title of a pane alone stands on its tab.
            title={hasOthers ? title : texts.terminal.place(at.sandbox, name)}
            onDoubleClick={hasOthers ? maximize : heading.onNaming}
          />
        }
        menu={
          <>
            {isMaximized ? <RestoreButton onPress={maximize} /> : null}
            <PaneMenu title={title} place={place} entries={entries} onDone={onDone} />
          </>
        }
        keys={run.may(PALETTE) ? <CommandsKey onPress={() => run(PALETTE)} /> : null}
        {...defined({ onNewSession: state.rights.mayStart ? () => actions.replacePane(id) : undefined })}
      />
      {run.may(PALETTE) && state.address.actions.length === 0 ? <FirstSteps live={live.sessionOf(id)} /> : null}
    </PaneContextMenu>
  );
}

const PALETTE: WorkspaceCommand = { do: "palette" };
const MAXIMIZE: WorkspaceCommand = { do: "maximize" };

/** Says why the other panes are out of sight, and brings them back. */
function RestoreButton({ onPress }: { readonly onPress: () => void }) {
  const keys = keysOfCommand(MAXIMIZE, useOwnKeys());
  return (
    <button type="button" className="sbx-button" title={keys} onClick={onPress}>
      {useTexts().desk.restore}
    </button>
  );
}

/** The way to all that a window without room for bars doesn't show. */
function CommandsKey({ onPress }: { readonly onPress: () => void }) {
  const label = useTexts().desk.sessions;
  return (
    <button type="button" className="sbx-commands" aria-label={label} title={label} onClick={onPress}>
      <LayoutList size={16} aria-hidden />
    </button>
  );
}

type PaneMenuProps = {
  readonly title: string;
  /** Sandbox and session. */
  readonly place: string;
  readonly entries: () => readonly MenuEntry[];
  readonly onDone: () => void;
};

/** The menu of a pane, at the end of its line. */
function PaneMenu({ title, place, entries, onDone }: PaneMenuProps) {
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

type PaneHeadingProps = {
  readonly id: PaneId;
  readonly title: string;
  /** Sandbox and session. */
  readonly place: string;
  /** In place of the title while that is being changed. */
  readonly field: ReactNode;
  readonly onDoubleClick: (() => void) | undefined;
  /** undefined: it can't be dragged. */
  readonly onDrag: ((id: PaneId | undefined) => void) | undefined;
};

/** What a pane's line says at its start: its name, which can be changed in place, and is the mouse's handle. */
function PaneHeading({ id, title, place, field, onDoubleClick, onDrag }: PaneHeadingProps) {
  const words = useTexts().desk;
  if (field !== undefined) return field;
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
      onDoubleClick={onDoubleClick}
    >
      <SquareTerminal size={14} aria-hidden />
      <span>{title}</span>
    </span>
  );
}

type PaneContextMenuProps = {
  readonly session: () => TerminalSession | undefined;
  /** The entries of the pane's own menu. */
  readonly paneEntries: () => readonly MenuEntry[];
  readonly onDone: () => void;
  readonly children: ReactNode;
};

/** Fingers select by a long press, which would open the menu. */
const FINGERS = "(pointer: coarse)";

/** What the right button offers in a terminal: the selection, the link under the pointer, and what can be done with the pane. */
function PaneContextMenu({ session, paneEntries, onDone, children }: PaneContextMenuProps) {
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
        keys: "Ctrl+Shift+V",
        isDisabled: !mayType,
        act: () => void live.guard.pasteClipboard().then(onDone),
      },
      { label: words.selectAll, act: () => live.screen.terminal.selectAll() },
      ...paneEntries().map((entry, i) => (i === 0 ? { ...entry, isApart: true } : entry)),
    ];
  };
  const onPress = (event: MouseEvent) => {
    const live = session();
    const { target } = event;
    // A file's row has its own menu.
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
