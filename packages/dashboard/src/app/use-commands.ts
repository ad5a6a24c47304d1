// What each command of the page does, from wherever it was given, and who may give it.

import { useMemo } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { FONT_SIZES } from "../settings/preferences.ts";
import { GALLERY } from "../settings/theme-gallery.ts";
import type { Texts } from "../texts/texts.ts";
import { focusedTarget, focusOf, isSplit, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { applied, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import { useIsSmall } from "../workspace/Switcher.tsx";
import type { Page, PageState } from "./page.ts";
import { togglePush } from "./push.ts";
import type { SessionActions } from "./session-actions.ts";
import type { LiveSessions } from "./use-live-sessions.ts";

type ReadyState = Extract<PageState, { phase: "ready" }>;

export type ShownDialog =
  | { readonly kind: "palette" | "settings" | "keys" }
  | { readonly kind: "share" | "end"; readonly target: SessionTarget };

export type CommandsOptions = {
  readonly page: Page;
  readonly state: ReadyState;
  readonly actions: SessionActions;
  readonly live: LiveSessions;
  readonly dialog: ShownDialog | undefined;
  readonly setDialog: (dialog: ShownDialog | undefined) => void;
  readonly setNaming: (id: PaneId) => void;
  readonly texts: Texts;
};

/** Runs a command on the focused pane, or on another one. */
export type Run = ((command: WorkspaceCommand, at?: SessionTarget) => void) & {
  readonly may: (command: WorkspaceCommand) => boolean;
};

/** Commands of a guest, whose page has one session: those of its terminal, and of the page's look. */
const OF_GUESTS: readonly WorkspaceCommand["do"][] = [
  ...(["settings", "keys", "terminal", "scheme", "theme", "zoom"] as const),
  ...(["port", "paste", "select-all", "secret", "reader"] as const),
];

/** Commands that start a session, or change what is in its sandbox. */
const STARTING: readonly WorkspaceCommand["do"][] = ["new", "divide", "files", "upload"];

export function useCommands(options: CommandsOptions): Run {
  const { page, state, actions, live, dialog, setDialog, setNaming, texts } = options;
  const { user, rights, workspace } = state;
  const isSmall = useIsSmall();
  const may = useMemo(
    () => (command: WorkspaceCommand) => {
      if (command.do === "share" || command.do === "end") return rights.mayShare;
      if (command.do === "ask") return live.sessionOf()?.room.answerable(command.act) !== undefined;
      if (command.do === "maximize" || command.do === "equalize")
        return !isSmall && isSplit(workspace.getState().layout);
      if (command.do === "paste" || command.do === "secret") return live.sessionOf()?.connection.mayType === true;
      if (command.do === "log-out") return user !== undefined;
      if (command.do === "rename") return rights.mayOpenAnother && user !== undefined;
      if (command.do === "reopen") return rights.mayOpenAnother && workspace.getState().closed.length > 0;
      if (STARTING.includes(command.do)) return rights.mayStart;
      return rights.mayOpenAnother || OF_GUESTS.includes(command.do);
    },
    [rights, user, workspace, live, isSmall],
  );
  const run = (command: WorkspaceCommand, at = focusedTarget(workspace.getState().layout)) => {
    const one = live.sessionOf();
    const id = at === undefined ? focusOf(workspace.getState().layout) : paneIdOf(at);
    switch (command.do) {
      case "palette":
        return setDialog(dialog?.kind === "palette" ? undefined : { kind: "palette" });
      case "settings":
      case "keys":
        return setDialog({ kind: command.do });
      case "share":
      case "end":
        return at === undefined ? undefined : setDialog({ kind: command.do, target: at });
      case "rename":
        return id === undefined ? undefined : setNaming(id);
      case "reopen":
        return workspace.reopen();
      case "new":
        return actions.startAndShow("here", command.sandbox, command.session);
      case "divide":
        return actions.startAndShow(command.direction === "right" ? "right" : "below");
      case "files":
        return one?.files?.togglePanel();
      case "upload":
        return void one?.files?.uploads.choose();
      case "close":
        return id === undefined ? undefined : actions.closePane(id);
      case "terminal":
        return void one?.tools.do(command.shortcut);
      case "port":
        return one?.openPort(command.port);
      case "ask":
        return one?.room.answer(command.act, one.room.answerable(command.act) ?? "");
      case "notify":
        return void togglePush().then((outcome) => one?.tell(texts.push[outcome]));
      case "paste":
        return void one?.guard.pasteClipboard();
      case "select-all":
        return one?.screen.terminal.selectAll();
      case "secret":
        return one?.setSecret(!one.getView().isSecret);
      case "reader":
        return page.preferences.set({ isReader: !page.preferences.get().isReader });
      case "zoom": {
        const { min, max } = FONT_SIZES;
        const fontSize = Math.max(min, Math.min(page.preferences.get().fontSize + command.by, max));
        return page.preferences.set({ fontSize });
      }
      case "log-out":
        return void page.logout();
      case "scheme":
        return page.preferences.set({ scheme: command.scheme, theme: undefined });
      case "theme":
        return page.preferences.set({ theme: GALLERY.find(({ name }) => name === command.name) });
      default:
        return workspace.editHere((now) => applied(now, command));
    }
  };
  return Object.assign(run, { may });
}
