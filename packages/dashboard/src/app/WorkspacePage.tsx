// The page of an admitted person: tabs, panes, the status bar, and the dialogs over them.

import "../workspace/workspace.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { TerminalSession } from "../session/terminal-session.ts";
import { chosenProps } from "../settings/chosen-props.ts";
import { focusNextRegion, isUnfocused, takeFocus } from "../terminal/terminal-keys.ts";
import { useScheme } from "../terminal/use-scheme.ts";
import { useTexts } from "../texts/texts-context.ts";
import { allTargets, type Dragged, focusOf, paneIdOf } from "../workspace/layout.ts";
import {
  closeTab,
  dropInTabs,
  dropOnPane,
  equalize,
  focus,
  moveTab,
  open,
  resize,
  showTab,
} from "../workspace/layout-edits.ts";
import { commandOfKey } from "../workspace/layout-keys.ts";
import { Panes } from "../workspace/Panes.tsx";
import { useIsSmall } from "../workspace/Switcher.tsx";
import { TabBar } from "../workspace/TabBar.tsx";
import { tabEntries } from "./menus.ts";
import { PageDialogs, preloadDialogs } from "./PageDialogs.tsx";
import { PageNotices } from "./PageNotices.tsx";
import { PagePane } from "./PagePane.tsx";
import { PageTools } from "./PageTools.tsx";
import type { Page } from "./page.ts";
import { usePageEffects } from "./page-effects.ts";
import { sessionActions } from "./session-actions.ts";
import { type ShownDialog, useCommands } from "./use-commands.ts";
import { useLabels } from "./use-labels.ts";
import { useLiveSessions } from "./use-live-sessions.ts";
import { useNaming } from "./use-naming.tsx";

type ReadyState = Extract<ReturnType<Page["getState"]>, { phase: "ready" }>;

export type WorkspacePageProps = {
  readonly page: Page;
  readonly state: ReadyState;
  /** Receives the focused session if the address asks for debugging. */
  readonly onDebug: ((session: TerminalSession) => void) | undefined;
};

export function WorkspacePage({ page, state, onDebug }: WorkspacePageProps) {
  const { user, rights, workspace } = state;
  const texts = useTexts();
  const { desk: words } = texts;
  const preferences = useSyncExternalStore(page.preferences.subscribe, page.preferences.get);
  const chosen = useMemo(() => chosenProps(preferences), [preferences]);
  const isSmall = useIsSmall();
  const scheme = useScheme(preferences.scheme, preferences.theme?.colours);
  const { layout, shown, isKept } = useSyncExternalStore(workspace.subscribe, workspace.getState);
  const [dialog, setDialog] = useState<ShownDialog>();
  const { isNaming, setNaming, fieldOf } = useNaming(workspace);
  const [dragged, setDragged] = useState<Dragged>();
  const [statusPlace, setStatusPlace] = useState<HTMLElement | null>(null);
  const isCovered = dialog !== undefined;
  const live = useLiveSessions(layout, {
    shown,
    isCovered: isCovered || isNaming,
    isDragging: dragged !== undefined,
    onFocus: state.address.isDebug ? onDebug : undefined,
  });
  const onDone = live.focusTerminal;
  const focusId = focusOf(layout);
  const hasOthers = allTargets(layout).length > 1;
  /** Whether a focused pane was chosen by the person: a closing dialog gives the focus back to where it was. */
  const isMeant = useRef(true);
  useLayoutEffect(() => {
    isMeant.current = !isCovered;
  }, [isCovered]);
  useEffect(preloadDialogs, []);
  const { titleOf, nameOf, signOf, calls } = useLabels(workspace, live.facts, words.unnamed);
  const focusedAt = allTargets(layout).find((target) => paneIdOf(target) === focusId);
  const title = focusedAt === undefined ? words.nothing : titleOf(focusedAt);
  const progress = focusId === undefined ? "" : (live.facts[focusId]?.progress ?? "");
  usePageEffects(page, state, dialog?.kind === "palette", `${calls}${progress}${title}`);

  const actions = sessionActions(page, state, focusId === undefined ? undefined : live.facts[focusId]?.shell.cwd);
  const run = useCommands({ page, state, actions, live, dialog, setDialog, setNaming, texts });
  const drop = (edit: (dragged: Dragged) => void) => {
    setDragged(undefined);
    if (dragged !== undefined) edit(dragged);
  };
  const closeAt = (index: number) =>
    actions.isAlone ? page.close() : workspace.editHere((now) => closeTab(now, index));
  const mayName = user !== undefined && rights.mayOpenAnother;

  return (
    <main
      className="sbx-ground sbx-page sbx-desk"
      data-scheme={scheme}
      data-small={isSmall}
      data-commands={focusedAt !== undefined && run.may({ do: "palette" })}
      onKeyDownCapture={(event) => {
        const { target, nativeEvent } = event;
        const isInDialog = target instanceof Element && target.closest("dialog") !== null;
        const command = commandOfKey(nativeEvent, hasOthers, preferences.keys);
        // In a dialog, only the key of the list counts, and only in the list.
        if (command === undefined || (isInDialog && !(dialog?.kind === "palette" && command.do === "palette"))) return;
        if (!run.may(command)) return;
        event.preventDefault();
        event.stopPropagation();
        if (!event.repeat || command.do === "focus") run(command);
      }}
      onClick={({ nativeEvent, target }) => {
        if (isCovered || !isUnfocused(nativeEvent)) return;
        const pane = target instanceof Element ? target.closest("[data-pane]") : null;
        live.focusTerminal(pane?.getAttribute("data-pane") ?? undefined);
      }}
      onKeyDown={(event) => {
        const { target } = event;
        if (!(target instanceof Element) || target.closest(".sbx-tabs, .sbx-divider") === null) return;
        const isStep = event.ctrlKey && event.key === "F6";
        if (event.key !== "Escape" && !isStep) return;
        event.preventDefault();
        if (!isStep || !focusNextRegion(target, event.shiftKey)) live.focusTerminal();
      }}
    >
      <h1 className="sbx-unseen">{title}</h1>
      <TabBar
        tabs={layout.tabs}
        titleOf={titleOf}
        signOf={signOf}
        current={layout.current}
        isSingle={isSmall}
        dragged={dragged}
        onDrag={setDragged}
        onDrop={(index) => drop((what) => workspace.editHere((now) => dropInTabs(now, what, index)))}
        onShow={(index) => workspace.editHere((now) => showTab(now, index))}
        onShowPane={(target) => workspace.editHere((now) => open(now, target))}
        onMove={(index, to) => workspace.editHere((now) => moveTab(now, index, to))}
        onClose={closeAt}
        onNaming={
          mayName
            ? (index) => {
                workspace.editHere((now) => showTab(now, index));
                setNaming(index);
              }
            : undefined
        }
        fieldOf={fieldOf}
        onNew={rights.mayStart ? () => run({ do: "new" }) : undefined}
        menuOf={(index) => {
          return tabEntries(layout.tabs.length > 1, run.may, texts, preferences.keys, (command) => {
            if (command.do === "close-tab") return closeAt(index);
            workspace.editHere((now) => showTab(now, index));
            if (command.do === "rename") setNaming(index);
            else run(command);
          });
        }}
        onDone={onDone}
        isKept={isKept}
      >
        <PageTools
          user={user}
          hasSession={focusId !== undefined}
          mayStart={rights.mayStart}
          mayOpen={rights.mayOpenAnother}
          mayShare={rights.mayShare}
          onCommand={run}
          onLogin={() => page.login()}
          onLogout={() => void page.logout()}
          onDone={live.focusTerminal}
        />
      </TabBar>
      {layout.tabs.length === 0 ? (
        <NothingOpen onNew={() => run({ do: "new" })} onList={() => run({ do: "palette" })} />
      ) : (
        <Panes
          tabs={layout.tabs}
          titleOf={titleOf}
          isSingle={isSmall}
          current={layout.current}
          shown={shown}
          dragged={dragged}
          onDrop={(at, direction) => drop((what) => workspace.editHere((now) => dropOnPane(now, what, at, direction)))}
          onFocus={(id) => isMeant.current && workspace.editHere((now) => focus(now, id))}
          onResize={(path, share) => workspace.editHere((now) => resize(now, path, share))}
          onEqualize={(path) => workspace.editHere((now) => equalize(now, path))}
        >
          {(id, at, isBesideOthers, isMaximized) => (
            <PagePane
              {...{ page, state, chosen, id, at, isMaximized, run, actions, live }}
              hasOthers={isBesideOthers}
              title={titleOf(at)}
              name={nameOf(at)}
              isCompact={isSmall}
              statusPlace={id === focusId ? statusPlace : null}
              field={fieldOf(id)}
              onNaming={mayName ? () => setNaming(id) : undefined}
              onDrag={isBesideOthers ? setDragged : undefined}
            />
          )}
        </Panes>
      )}
      <PageNotices {...{ workspace, live, titleOf, onCommand: run, onShow: actions.show, onDone }} />
      <div className="sbx-status" ref={setStatusPlace} />
      {dialog === undefined ? null : (
        <PageDialogs
          dialog={dialog}
          page={page}
          state={state}
          titleOf={titleOf}
          onCommand={run}
          may={run.may}
          onOpen={actions.show}
          people={() => live.sessionOf()?.room.getState().people}
          isRecorded={() => live.sessionOf()?.connection.recording !== undefined}
          ports={() => live.sessionOf()?.offer.ports ?? []}
          onClose={() => setDialog(undefined)}
        />
      )}
    </main>
  );
}

type NothingOpenProps = { readonly onNew: () => void; readonly onList: () => void };

function NothingOpen({ onNew, onList }: NothingOpenProps) {
  const words = useTexts().desk;
  return (
    <div className="sbx-center">
      <div className="sbx-card">
        <h2>{words.nothing}</h2>
        <p>{words.nothingText}</p>
        <button type="button" className="sbx-button sbx-primary" ref={takeFocus} onClick={onNew}>
          {words.new}
        </button>
        <button type="button" className="sbx-button" onClick={onList}>
          {words.sessions}
        </button>
      </div>
    </div>
  );
}
