// One pane of the page: its terminal, with the page's own heading and menu in the line above it.

import { defined } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import type { chosenProps } from "../settings/chosen-props.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PanedTerminal } from "../tmux/PanedTerminal.tsx";
import type { PaneId } from "../workspace/layout.ts";
import { focus } from "../workspace/layout-edits.ts";
import { PaneHeading, type PaneHeadingProps } from "../workspace/PaneHeading.tsx";
import { paneEntries } from "./menus.ts";
import { PaneContextMenu } from "./PaneContextMenu.tsx";
import { PaneMenu } from "./PaneMenu.tsx";
import type { Page, PageState } from "./page.ts";
import { paneProps, type SessionActions } from "./session-actions.ts";
import type { Run } from "./use-commands.ts";
import type { LiveSessions } from "./use-live-sessions.ts";

export type PagePaneProps = Omit<PaneHeadingProps, "place"> & {
  readonly page: Page;
  readonly state: Extract<PageState, { phase: "ready" }>;
  /** The person's preferences. */
  readonly chosen: ReturnType<typeof chosenProps>;
  readonly id: PaneId;
  readonly at: SessionTarget;
  readonly hasOthers: boolean;
  readonly run: Run;
  readonly actions: SessionActions;
  readonly live: LiveSessions;
  /** Where the status bar goes; null: another pane has it. */
  readonly statusPlace: HTMLElement | null;
  /** Whether the line above goes there too. */
  readonly isCompact: boolean;
};

export function PagePane(props: PagePaneProps) {
  const { page, state, chosen, id, at, hasOthers, run, actions, live, statusPlace, isCompact, title, ...heading } =
    props;
  const texts = useTexts();
  const place = texts.terminal.place(at.sandbox, at.session);
  const entries = () =>
    paneEntries(hasOthers, run.may, texts, (command) => {
      state.workspace.editHere((now) => focus(now, id));
      run(command, at);
    });
  const onDone = () => live.focusTerminal(id);
  return (
    <PaneContextMenu session={() => live.sessionOf(id)} paneEntries={entries} onDone={onDone}>
      <PanedTerminal
        {...chosen}
        {...paneProps(page, state, at)}
        onClose={() => actions.closePane(id)}
        onSettings={() => run({ do: "settings" })}
        onTitle={(_, facts) => live.onFacts(id, facts)}
        onReady={(session) => live.onReady(id, session)}
        statusBar={statusPlace}
        isCompact={isCompact}
        heading={<PaneHeading {...heading} id={id} title={title} place={place} />}
        menu={<PaneMenu title={title} place={place} entries={entries} onDone={onDone} />}
        {...defined({ onNewSession: state.rights.mayStart ? () => actions.replacePane(id) : undefined })}
      />
    </PaneContextMenu>
  );
}
