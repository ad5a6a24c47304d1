// Opening, starting and closing sessions on the page, and what their terminals get from the page.

import { defined, type Role } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import type { TerminalProps } from "../session/terminal-props.ts";
import type { PanedTerminalProps } from "../tmux/PanedTerminal.tsx";
import { allTargets, focusedTarget, focusOf, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { close, open, split } from "../workspace/layout-edits.ts";
import type { Page, PageState } from "./page.ts";
import { randomSessionName } from "./page-address.ts";

type ReadyState = Extract<PageState, { phase: "ready" }>;

/** Where a session appears: in a tab, or beside or below the focused pane. */
export type Position = "here" | "right" | "below";

export type SessionActions = ReturnType<typeof sessionActions>;

/** @param cwd The focused shell's directory, in which new shells of its sandbox begin. */
export function sessionActions(page: Page, { address, workspace }: ReadyState, cwd: string | undefined) {
  const { isAlone } = workspace.getState();
  const newTarget = (sandbox?: string, session = randomSessionName()): SessionTarget => {
    const here = focusedTarget(workspace.getState().layout)?.sandbox ?? address.sandbox;
    const target = { sandbox: sandbox ?? here, session };
    if (cwd !== undefined && target.sandbox === here) page.startIn(target, cwd);
    return target;
  };
  const show = (target: SessionTarget, position: Position) => {
    if (
      position === "here" &&
      allTargets(workspace.getState().layout).some((one) => paneIdOf(one) === paneIdOf(target))
    ) {
      workspace.editHere((now) => open(now, target));
      return;
    }
    workspace.opened(target.sandbox);
    void workspace.edit((now) => {
      const at = focusOf(now);
      if (position === "here" || at === undefined) return open(now, target);
      return split(now, at, position === "right" ? "right" : "down", target);
    });
  };
  return {
    isAlone,
    show,
    startAndShow: (position: Position, sandbox?: string, session?: string) =>
      show(newTarget(sandbox, session), position),
    closePane: (id: PaneId) => {
      if (isAlone) page.close();
      else void workspace.edit((now) => close(now, id));
    },
    replacePane: (id: PaneId) => {
      if (isAlone) page.newSession();
      else void workspace.edit((now) => close(split(now, id, "right", newTarget()), id));
    },
  };
}

/** The properties of a pane's terminal that follow from the page's address and the person's rights. */
export function paneProps(page: Page, { rights }: ReadyState, at: SessionTarget): PanedTerminalProps {
  const { address, resumes } = page.attachmentOf(at);
  const credentialOf = (of: SessionTarget): Pick<TerminalProps, "freshCredential"> =>
    defined({ freshCredential: rights.mayRenew ? (role: Role) => page.freshCredential(of, role) : undefined });
  const ofPane = (session: string) => {
    const pane = { sandbox: at.sandbox, session };
    return { resumes: page.attachmentOf(pane).resumes, ...credentialOf(pane) };
  };
  return {
    wsUrl: address.attachUrl,
    session: address.session,
    resumes,
    renderer: address.renderer,
    isAdmin: rights.isAdmin,
    ...credentialOf(at),
    ofPane: rights.mayOpenAnother ? ofPane : undefined,
    onLogin: () => page.login(),
    onReader: (isReader) => page.preferences.set({ isReader }),
    takesFiles: rights.mayStart,
    ...defined({ previews: rights.previews, moment: address.moment }),
  };
}
