// The page of an admitted person: one terminal, or tabs and panes, and the list of sessions over them.

import "../workspace/workspace.css";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { defined, type Role } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import { Palette } from "../find/Palette.tsx";
import type { TerminalProps } from "../session/terminal-props.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { chosenProps } from "../settings/chosen-props.ts";
import { SettingsDialog } from "../settings/SettingsDialog.tsx";
import { ShareDialog } from "../sharing/ShareDialog.tsx";
import { focusNextRegion, isUnfocused, takeFocus } from "../terminal/terminal-keys.ts";
import { useScheme } from "../terminal/use-scheme.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PanedTerminal, type PanedTerminalProps } from "../tmux/PanedTerminal.tsx";
import { allTargets, type Dragged, focusedTarget, focusOf, type PaneId, paneIdOf } from "../workspace/layout.ts";
import {
  close,
  closeTab,
  dropInTabs,
  dropOnPane,
  focus,
  moveTab,
  open,
  resize,
  showTab,
  split,
} from "../workspace/layout-edits.ts";
import { applied, commandOfKey, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import { Panes } from "../workspace/Panes.tsx";
import { useIsSmall } from "../workspace/Switcher.tsx";
import { TabBar } from "../workspace/TabBar.tsx";
import { PageTools } from "./PageTools.tsx";
import type { Page } from "./page.ts";
import { randomSessionName } from "./page-address.ts";
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
  const words = useTexts().desk;
  const preferences = useSyncExternalStore(page.preferences.subscribe, page.preferences.get);
  const chosen = useMemo(() => chosenProps(preferences), [preferences]);
  const isSmall = useIsSmall();
  const scheme = useScheme(preferences.scheme);
  const { layout, isAlone, isKept, shown, sandboxes, names } = useSyncExternalStore(
    workspace.subscribe,
    workspace.getState,
  );
  const [isListed, setListed] = useState(false);
  const [isInSettings, setSettings] = useState(false);
  const [shared, setShared] = useState<SessionTarget>();
  const [dragged, setDragged] = useState<Dragged>();
  const isCovered = isListed || isInSettings || shared !== undefined;
  const live = useLiveSessions(layout, {
    shown,
    isCovered,
    isDragging: dragged !== undefined,
    onFocus: state.address.isDebug ? onDebug : undefined,
  });
  const focusId = focusOf(layout);
  const all = allTargets(layout);
  /** Whether a focused pane was chosen by the person: a closing dialog gives the focus back to where it was. */
  const isMeant = useRef(true);
  useLayoutEffect(() => {
    isMeant.current = !isCovered;
  }, [isCovered]);
  usePageEffects(page, state, isListed, live.title);

  const { startAndShow, show, closePane, replacePane } = sessionActions(page, state);
  const run = (command: WorkspaceCommand) => {
    if (command.do === "palette") setListed(!isListed);
    else if (command.do === "new") startAndShow("here", command.sandbox);
    else if (command.do === "divide") startAndShow(command.direction === "right" ? "right" : "below");
    else if (command.do === "upload") live.upload();
    else if (command.do === "close") focusId !== undefined && closePane(focusId);
    else workspace.editHere((now) => applied(now, command));
  };
  const drop = (edit: (dragged: Dragged) => void) => {
    setDragged(undefined);
    if (dragged !== undefined) edit(dragged);
  };
  const tools = (
    <PageTools
      user={user}
      onList={rights.mayStartAnother ? () => setListed(true) : undefined}
      onSettings={() => setSettings(true)}
      onLogin={() => page.login()}
      onLogout={() => void page.logout()}
    />
  );

  return (
    <main
      className="sbx-ground sbx-page sbx-desk"
      data-scheme={scheme}
      onKeyDownCapture={(event) => {
        const isInDialog = event.target instanceof Element && event.target.closest("dialog") !== null;
        const command = rights.mayStartAnother ? commandOfKey(event.nativeEvent, all.length > 1) : undefined;
        // In a dialog, only the key of the list counts, and only in the list.
        if (command === undefined || (isInDialog && !(isListed && command.do === "palette"))) return;
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
      {isAlone ? null : (
        <TabBar
          tabs={layout.tabs}
          names={names}
          current={layout.current}
          isSingle={isSmall}
          dragged={dragged}
          onDrag={setDragged}
          onDrop={(index) => drop((what) => workspace.editHere((now) => dropInTabs(now, what, index)))}
          onShow={(index) => workspace.editHere((now) => showTab(now, index))}
          onShowPane={(target) => workspace.editHere((now) => open(now, target))}
          onMove={(index, to) => workspace.editHere((now) => moveTab(now, index, to))}
          onClose={(index) => workspace.editHere((now) => closeTab(now, index))}
          onNew={() => run({ do: "new" })}
          isKept={isKept}
        >
          {tools}
        </TabBar>
      )}
      {layout.tabs.length === 0 ? (
        <NothingOpen onNew={() => run({ do: "new" })} onList={() => setListed(true)} />
      ) : (
        <Panes
          tabs={layout.tabs}
          names={names}
          isSingle={isSmall}
          hasTabs={!isAlone}
          current={layout.current}
          shown={shown}
          dragged={dragged}
          onDrag={setDragged}
          onDrop={(at, direction) => drop((what) => workspace.editHere((now) => dropOnPane(now, what, at, direction)))}
          onFocus={(id) => isMeant.current && workspace.editHere((now) => focus(now, id))}
          onClose={closePane}
          onResize={(path, share) => workspace.editHere((now) => resize(now, path, share))}
        >
          {(id, at) => (
            <PanedTerminal
              {...chosen}
              {...paneProps(page, state, at)}
              onClose={() => closePane(id)}
              onSettings={() => setSettings(true)}
              onTitle={(text) => live.onTitle(id, text)}
              onReady={(session) => live.onReady(id, session)}
              {...defined({
                onShare: rights.mayShare ? () => setShared(at) : undefined,
                onNewSession: rights.mayStartAnother ? () => replacePane(id) : undefined,
              })}
            >
              {isAlone ? tools : null}
            </PanedTerminal>
          )}
        </Panes>
      )}
      {isInSettings ? (
        <SettingsDialog
          preferences={preferences}
          onChange={(change) => page.preferences.set(change)}
          onClose={() => setSettings(false)}
        />
      ) : null}
      {shared === undefined ? null : (
        <ShareDialog target={shared} name={names[paneIdOf(shared)]} onClose={() => setShared(undefined)} />
      )}
      {isListed ? (
        <Palette
          sandboxes={[...new Set([...sandboxes, ...all.map(({ sandbox }) => sandbox)])]}
          open={new Set(all.map(paneIdOf))}
          names={names}
          onRename={(of, name) => void workspace.rename(of, name)}
          mayStart={rights.mayStartAnother}
          mayEnd={rights.mayShare}
          onOpen={show}
          onCommand={run}
          onClose={() => setListed(false)}
        />
      ) : null}
    </main>
  );
}

/** Keeps the document's title, the address, and the stored layout and names up to date. */
function usePageEffects(page: Page, { workspace }: ReadyState, isListed: boolean, title: string): void {
  const words = useTexts().desk;
  const { layout, isAlone, names } = workspace.getState();
  const focusId = focusOf(layout);
  const place = focusId === undefined ? words.nothing : (names[focusId] ?? focusId);
  const target = focusedTarget(layout);
  useEffect(() => {
    if (isListed) void workspace.loadNames();
  }, [workspace, isListed]);
  useEffect(() => {
    document.title = title === "" || focusId === undefined ? place : `${title} · ${place}`;
  }, [title, focusId, place]);
  useEffect(() => {
    if (!isAlone && target !== undefined) page.focused(target);
  }, [page, isAlone, target]);
  useEffect(() => {
    const stop = new AbortController();
    window.addEventListener("pagehide", () => workspace.flush(), { signal: stop.signal });
    return () => stop.abort();
  }, [workspace]);
}

/** Where a session appears: in a tab, or beside or below the focused pane. */
type Position = "here" | "right" | "below";

function sessionActions(page: Page, { address, workspace }: ReadyState) {
  const { layout, isAlone } = workspace.getState();
  const newTarget = (sandbox = focusedTarget(layout)?.sandbox ?? address.sandbox): SessionTarget => ({
    sandbox,
    session: randomSessionName(),
  });
  const show = (target: SessionTarget, position: Position) => {
    if (position === "here" && allTargets(layout).some((one) => paneIdOf(one) === paneIdOf(target))) {
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
    show,
    startAndShow: (position: Position, sandbox?: string) => show(newTarget(sandbox), position),
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
function paneProps(page: Page, { rights }: ReadyState, at: SessionTarget): PanedTerminalProps {
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
    ofPane: rights.mayStartAnother ? ofPane : undefined,
    onLogin: () => page.login(),
    onReader: (isReader) => page.preferences.set({ isReader }),
    takesFiles: rights.mayStartAnother,
    ...defined({ previews: rights.previews, moment: address.moment }),
  };
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
