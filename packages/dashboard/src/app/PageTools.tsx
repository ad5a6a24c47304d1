// What can be done anywhere on the page, at the end of the tabs: split, search, sessions, share, settings, and the person's own menu.

import {
  CircleUserRound,
  Keyboard,
  LayoutList,
  LogIn,
  LogOut,
  type LucideIcon,
  Search,
  Settings,
  Share2,
  SquareSplitHorizontal,
} from "lucide-react";
import { useOwnKeys } from "../keys/own-keys.ts";
import { useTexts } from "../texts/texts-context.ts";
import { DropdownMenu } from "../ui/Menu.tsx";
import { keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";

export type PageToolsProps = {
  /** The logged-in person; undefined for a guest. */
  readonly user: string | undefined;
  /** Whether a session is open, which can be searched. */
  readonly hasSession: boolean;
  readonly mayStart: boolean;
  /** False for a guest of one session. */
  readonly mayOpen: boolean;
  readonly mayShare: boolean;
  readonly onCommand: (command: WorkspaceCommand) => void;
  readonly onLogin: () => void;
  readonly onLogout: () => void;
  /** Focuses the terminal. */
  readonly onDone: () => void;
};

type PageTool = { readonly label: string; readonly icon: LucideIcon; readonly command: WorkspaceCommand };

export function PageTools(props: PageToolsProps) {
  const { user, hasSession, mayStart, mayOpen, mayShare, onCommand } = props;
  const { desk, page, settings, people, keySheet } = useTexts();
  const tools: readonly (PageTool | false)[] = [
    mayStart && hasSession && { label: desk.split, icon: SquareSplitHorizontal, command: SPLIT },
    hasSession && { label: desk.search, icon: Search, command: SEARCH },
    mayOpen && { label: desk.sessions, icon: LayoutList, command: { do: "palette" } },
    mayShare && hasSession && { label: people.share, icon: Share2, command: { do: "share" } },
    { label: settings.open, icon: Settings, command: { do: "settings" } },
  ];
  const own = useOwnKeys();
  const name = user ?? page.guest;
  return (
    <>
      {tools.map((tool) =>
        tool === false ? null : <ToolButton key={tool.label} {...tool} onPress={() => onCommand(tool.command)} />,
      )}
      <DropdownMenu
        title={
          <>
            {name}
            {user === undefined ? <small>{page.notLoggedIn}</small> : null}
          </>
        }
        onDone={props.onDone}
        entries={() => [
          { label: settings.open, icon: Settings, keys: keysOfCommand(SETTINGS, own), act: () => onCommand(SETTINGS) },
          { label: keySheet.title, icon: Keyboard, keys: keysOfCommand(KEYS, own), act: () => onCommand(KEYS) },
          user === undefined
            ? { label: page.logIn, icon: LogIn, isApart: true, act: props.onLogin }
            : { label: page.logOut, icon: LogOut, isApart: true, act: props.onLogout },
        ]}
      >
        <button type="button" className="sbx-quiet sbx-tool sbx-user" title={name}>
          {user === undefined ? (
            <CircleUserRound size={16} aria-hidden />
          ) : (
            <i data-letter={[...user][0]?.toUpperCase()} aria-hidden="true" />
          )}
          <span className="sbx-unseen">{name}</span>
        </button>
      </DropdownMenu>
    </>
  );
}

const SPLIT: WorkspaceCommand = { do: "divide", direction: "right" };
const SEARCH: WorkspaceCommand = { do: "terminal", shortcut: "search" };
const SETTINGS: WorkspaceCommand = { do: "settings" };
const KEYS: WorkspaceCommand = { do: "keys" };

function ToolButton({ label, icon: Icon, command, onPress }: PageTool & { readonly onPress: () => void }) {
  const keys = keysOfCommand(command, useOwnKeys());
  return (
    <button
      type="button"
      className="sbx-quiet sbx-tool"
      data-tool={command.do}
      aria-label={label}
      title={keys === "" ? label : `${label} (${keys})`}
      onClick={onPress}
    >
      <Icon size={16} aria-hidden />
    </button>
  );
}
