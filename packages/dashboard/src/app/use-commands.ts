// What each command of the page does, from wherever it was given, and who may give it.

import { useMemo } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import type { Texts } from "../texts/texts.ts";
import { focusedTarget, focusOf, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { applied, type WorkspaceCommand } from "../workspace/layout-keys.ts";
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
const OF_GUESTS: readonly WorkspaceCommand["do"][] = ["settings", "keys", "terminal", "scheme"];

/** Commands that start a session, or change what is in its sandbox. */
const STARTING: readonly WorkspaceCommand["do"][] = ["new", "divide", "files", "upload"];

export function useCommands(options: CommandsOptions): Run {
  const { page, state, actions, live, dialog, setDialog, setNaming, texts } = options;
  const { user, rights, workspace } = state;
  const may = useMemo(
    () => (command: WorkspaceCommand) => {
      if (command.do === "share" || command.do === "end") return rights.mayShare;
      if (command.do === "ask") return live.sessionOf()?.room.answerable(command.act) !== undefined;
      if (command.do === "rename") return rights.mayOpenAnother && user !== undefined;
      if (command.do === "reopen") return rights.mayOpenAnother && workspace.getState().closed.length > 0;
      if (STARTING.includes(command.do)) return rights.mayStart;
      return rights.mayOpenAnother || OF_GUESTS.includes(command.do);
    },
    [rights, user, workspace, live],
  );
  const run = (command: WorkspaceCommand, at = focusedTarget(workspace.getState().layout)) => {
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
        return actions.startAndShow("here", command.sandbox);
      case "divide":
        return actions.startAndShow(command.direction === "right" ? "right" : "below");
      case "files":
        return live.sessionOf()?.files?.togglePanel();
      case "upload":
        return void live.sessionOf()?.files?.uploads.choose();
      case "close":
        return id === undefined ? undefined : actions.closePane(id);
      case "terminal":
        return void live.sessionOf()?.tools.do(command.shortcut);
      case "ask":
        return live.sessionOf()?.room.answer(command.act, live.sessionOf()?.room.answerable(command.act) ?? "");
      case "notify":
        return void togglePush().then((outcome) => live.sessionOf()?.tell(texts.push[outcome]));
      case "scheme":
        return page.preferences.set({ scheme: command.scheme, theme: undefined });
      default:
        return workspace.editHere((now) => applied(now, command));
    }
  };
  return Object.assign(run, { may });
}
