// The page of an admitted person: tabs, panes, the status bar, and the dialogs over them.

import "../workspace/workspace.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { chosenProps } from "../settings/chosen-props.ts";
import { focusNextRegion, isUnfocused, takeFocus } from "../terminal/terminal-keys.ts";
import { useScheme } from "../terminal/use-scheme.ts";
import { useTexts } from "../texts/texts-context.ts";
import { allTargets, type Dragged, focusOf, type PaneId, paneIdOf } from "../workspace/layout.ts";
import { closeTab, dropInTabs, dropOnPane, focus, moveTab, open, resize, showTab } from "../workspace/layout-edits.ts";
import { commandOfKey } from "../workspace/layout-keys.ts";
import { Panes } from "../workspace/Panes.tsx";
import { useIsSmall } from "../workspace/Switcher.tsx";
import { TabBar } from "../workspace/TabBar.tsx";
import type { Closed } from "../workspace/workspace.ts";
import { menuOf, TAB_COMMANDS } from "./menus.ts";
import { PageDialogs, preloadDialogs } from "./PageDialogs.tsx";
import { PagePane } from "./PagePane.tsx";
import { PageTools } from "./PageTools.tsx";
import type { Page } from "./page.ts";
import { usePageEffects } from "./page-effects.ts";
import { sessionActions } from "./session-actions.ts";
import { type ShownDialog, useCommands } from "./use-commands.ts";
import { useLiveSessions } from "./use-live-sessions.ts";

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
  const scheme = useScheme(preferences.scheme);
  const { layout, shown, names, isKept, closed } = useSyncExternalStore(workspace.subscribe, workspace.getState);
  const [dialog, setDialog] = useState<ShownDialog>();
  /** The pane whose title is being changed. */
  const [naming, setNaming] = useState<PaneId>();
  const [dragged, setDragged] = useState<Dragged>();
  const [statusPlace, setStatusPlace] = useState<HTMLElement | null>(null);
  const isCovered = dialog !== undefined;
  const live = useLiveSessions(layout, {
    shown,
    isCovered: isCovered || naming !== undefined,
    isDragging: dragged !== undefined,
    onFocus: state.address.isDebug ? onDebug : undefined,
  });
  const focusId = focusOf(layout);
  const hasOthers = allTargets(layout).length > 1;
  /** Whether a focused pane was chosen by the person: a closing dialog gives the focus back to where it was. */
  const isMeant = useRef(true);
  useLayoutEffect(() => {
    isMeant.current = !isCovered;
  }, [isCovered]);
  useEffect(preloadDialogs, []);
  const titleOf = (target: SessionTarget) => {
    const id = paneIdOf(target);
    const { title = "", shell } = live.facts[id] ?? {};
    return paneTitle(target, names[id], { title, cwd: shell?.cwd, running: shell?.running });
  };
  const focusedAt = allTargets(layout).find((target) => paneIdOf(target) === focusId);
  const title = focusedAt === undefined ? words.nothing : titleOf(focusedAt);
  const progress = focusId === undefined ? "" : (live.facts[focusId]?.progress ?? "");
  usePageEffects(page, state, dialog?.kind === "palette", `${progress}${title}`);

  const actions = sessionActions(page, state, focusId === undefined ? undefined : live.facts[focusId]?.shell.cwd);
  const run = useCommands({ page, state, actions, live, dialog, setDialog, setNaming, texts });
  const drop = (edit: (dragged: Dragged) => void) => {
    setDragged(undefined);
    if (dragged !== undefined) edit(dragged);
  };
  const name = (target: SessionTarget, to: string | undefined) => {
    setNaming(undefined);
    if (to !== undefined) void workspace.rename(target, to);
  };
  const mayName = user !== undefined && rights.mayOpenAnother;

  return (
    <main
      className="sbx-ground sbx-page sbx-desk"
      data-scheme={scheme}
      data-small={isSmall}
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
      <h1 className="sbx-unseen">{focusId ?? words.nothing}</h1>
      <TabBar
        tabs={layout.tabs}
        titleOf={titleOf}
        current={layout.current}
        isSingle={isSmall}
        dragged={dragged}
        onDrag={setDragged}
        onDrop={(index) => drop((what) => workspace.editHere((now) => dropInTabs(now, what, index)))}
        onShow={(index) => workspace.editHere((now) => showTab(now, index))}
        onShowPane={(target) => workspace.editHere((now) => open(now, target))}
        onMove={(index, to) => workspace.editHere((now) => moveTab(now, index, to))}
        onClose={(index) => (actions.isAlone ? page.close() : workspace.editHere((now) => closeTab(now, index)))}
        onNaming={
          mayName
            ? (id) => {
                workspace.editHere((now) => focus(now, id));
                setNaming(id);
              }
            : undefined
        }
        onNew={rights.mayStart ? () => run({ do: "new" }) : undefined}
        menuOf={(index) => {
          const commands = TAB_COMMANDS.filter(({ command, isForOthers }) => {
            return run.may(command) && (layout.tabs.length > 1 || isForOthers !== true);
          });
          return menuOf(commands, texts, preferences.keys, (command) => {
            workspace.editHere((now) => showTab(now, index));
            run(command);
          });
        }}
        onDone={live.focusTerminal}
        isKept={isKept}
      >
        <UndoClose closed={closed} titleOf={titleOf} onUndo={() => run({ do: "reopen" })} />
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
        >
          {(id, at, isBesideOthers) => (
            <PagePane
              {...{ page, state, chosen, id, at, hasOthers, run, actions, live }}
              title={titleOf(at)}
              isCompact={isSmall}
              statusPlace={id === focusId ? statusPlace : null}
              isNaming={naming === id}
              onNaming={mayName ? () => setNaming(id) : undefined}
              onName={(to) => name(at, to)}
              onDrag={isBesideOthers ? setDragged : undefined}
            />
          )}
        </Panes>
      )}
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

/** What the shell and its programs say of themselves. */
type PaneFacts = {
  /** The title that a program set; "" for none. */
  readonly title: string;
  /** The shell's directory, and the command that runs in it, if the shell marks them. */
  readonly cwd: string | undefined;
  readonly running: string | undefined;
};

/** Sessions that the page named itself: see `randomSessionName`. */
const GENERATED = /^web-[a-z1-9]{8}$/;
const MAX_COMMAND = 40;

/** @param own The person's own name of the session. @param facts undefined: nothing is known yet. */
export function paneTitle({ session }: SessionTarget, own: string | undefined, facts: PaneFacts | undefined): string {
  if (own !== undefined) return own;
  const { title = "", cwd, running } = facts ?? {};
  const place = GENERATED.test(session) && cwd !== undefined ? folderOf(cwd) : session;
  // A marked shell's own title is its prompt once more.
  const what = cwd === undefined ? title : running === undefined ? "" : title || commandName(running);
  return what === "" ? place : `${what} · ${place}`;
}

function folderOf(path: string): string {
  return path.split("/").findLast((part) => part !== "") ?? "/";
}

/** The first line of a command, as far as a tab has room. */
function commandName(line: string): string {
  const first = (line.split("\n")[0] ?? "").trim();
  return first.length <= MAX_COMMAND ? first : `${first.slice(0, MAX_COMMAND - 1).trimEnd()}…`;
}

const SHOWN_MS = 8_000;

type UndoCloseProps = {
  readonly closed: readonly Closed[];
  readonly titleOf: (target: SessionTarget) => string;
  readonly onUndo: () => void;
};

/** What was just closed can be opened again, for some seconds. */
function UndoClose({ closed, titleOf, onUndo }: UndoCloseProps) {
  const words = useTexts().desk;
  const last = closed.at(-1);
  const [gone, setGone] = useState(last);
  useEffect(() => {
    if (last === undefined) return;
    const timer = setTimeout(() => setGone(last), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [last]);
  const isShown = last !== undefined && last !== gone;
  return (
    <span className="sbx-undo" role="status">
      {isShown ? (
        <>
          <span>{words.closed(last.targets.map(titleOf))}</span>
          <button type="button" className="sbx-button" onClick={onUndo}>
            {words.undo}
          </button>
        </>
      ) : null}
    </span>
  );
}
