// The page of a person who is let in: one terminal, or all of their tabs and panes, and the list of sessions over them.

import "../workspace/workspace.css";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { Palette } from "../find/Palette.tsx";
import type { TerminalProps } from "../session/terminal-props.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { chosenProps } from "../settings/chosen-props.ts";
import { SettingsDialog } from "../settings/SettingsDialog.tsx";
import { ShareDialog } from "../sharing/ShareDialog.tsx";
import { isUnfocused, takeFocus } from "../terminal/terminal-keys.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PanedTerminal } from "../tmux/PanedTerminal.tsx";
import { allTargets, focusedTarget, focusOf, type PaneId, paneIdOf, tabOf, targetsOf } from "../workspace/layout.ts";
import { close, focus, moveTab, moveToOwnTab, open, resize, showTab, split } from "../workspace/layout-edits.ts";
import { applied, commandOfKey, keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import { Panes } from "../workspace/Panes.tsx";
import { TabBar } from "../workspace/TabBar.tsx";
import { Account } from "./Account.tsx";
import type { Page } from "./page.ts";
import { randomSessionName } from "./page-address.ts";

type ReadyState = Extract<ReturnType<Page["getState"]>, { phase: "ready" }>;

export type WorkspacePageProps = {
  readonly page: Page;
  readonly state: ReadyState;
  /** Told of the session that has the focus, where the address asks for debugging. */
  readonly onDebug: ((session: TerminalSession) => void) | undefined;
};

export function WorkspacePage({ page, state, onDebug }: WorkspacePageProps) {
  const { user, rights, workspace } = state;
  const { desk: words, settings } = useTexts();
  const preferences = useSyncExternalStore(page.preferences.subscribe, page.preferences.get);
  const chosen = useMemo(() => chosenProps(preferences), [preferences]);
  const { layout, isAlone, isKept, shown, sandboxes, names } = useSyncExternalStore(
    workspace.subscribe,
    workspace.getState,
  );
  const [isListed, setListed] = useState(false);
  const [isInSettings, setSettings] = useState(false);
  const [shared, setShared] = useState<SessionTarget>();
  const [dragged, setDragged] = useState<PaneId | number>();
  const [titles, setTitles] = useState<Readonly<Record<PaneId, string>>>({});
  const sessions = useRef(new Map<PaneId, TerminalSession>());
  const focusId = focusOf(layout);
  const target = focusedTarget(layout);
  const all = allTargets(layout);

  const isCovered = isListed || isInSettings || shared !== undefined;
  /** Whether a pane that gets the focus is meant: a dialog that goes gives it back to where it was. */
  const isMeant = useRef(true);
  useLayoutEffect(() => {
    isMeant.current = !isCovered;
  }, [isCovered]);

  const focusTerminal = useCallback(() => {
    if (focusId !== undefined) sessions.current.get(focusId)?.screen.focus();
  }, [focusId]);
  // Each terminal takes the focus when it is made, and so does the one in front: the pane that has it in the layout comes last.
  useEffect(() => {
    const live = focusId === undefined ? undefined : sessions.current.get(focusId);
    if (live !== undefined && state.address.isDebug) onDebug?.(live);
    if (!isCovered && !isAtControlOf(focusId)) focusTerminal();
  }, [focusTerminal, focusId, shown, isCovered, onDebug, state.address.isDebug]);

  // What was let go of had the keyboard, or nothing had: it is the terminal's again.
  const wasDragged = useRef(false);
  useEffect(() => {
    if (dragged === undefined && wasDragged.current) focusTerminal();
    wasDragged.current = dragged !== undefined;
  }, [dragged, focusTerminal]);

  // A pane that is closed is let go of, with its terminal and scrollback.
  useEffect(() => {
    const openIds = new Set(allTargets(layout).map(paneIdOf));
    for (const id of sessions.current.keys()) if (!openIds.has(id)) sessions.current.delete(id);
    setTitles((before) => {
      const kept = Object.entries(before).filter(([id]) => openIds.has(id));
      return kept.length === Object.keys(before).length ? before : Object.fromEntries(kept);
    });
  }, [layout]);

  useEffect(() => {
    if (isListed) void workspace.loadNames();
  }, [workspace, isListed]);

  const title = (focusId === undefined ? undefined : titles[focusId]) ?? "";
  useEffect(() => {
    document.title = title === "" || focusId === undefined ? (focusId ?? words.nothing) : `${title} · ${focusId}`;
  }, [title, focusId, words]);
  useEffect(() => {
    if (!isAlone && target !== undefined) page.focused(target);
  }, [page, isAlone, target]);
  useEffect(() => {
    const stop = new AbortController();
    window.addEventListener("pagehide", () => workspace.flush(), { signal: stop.signal });
    return () => stop.abort();
  }, [workspace]);

  const fresh = (sandbox = target?.sandbox ?? state.address.sandbox): SessionTarget => ({
    sandbox,
    session: randomSessionName(),
  });
  const show = (wanted: SessionTarget, how: "here" | "right" | "below") => {
    if (how === "here" && all.some((one) => paneIdOf(one) === paneIdOf(wanted))) {
      workspace.editHere((now) => open(now, wanted));
      return;
    }
    workspace.opened(wanted.sandbox);
    void workspace.edit((now) => {
      const at = focusOf(now);
      if (how === "here" || at === undefined) return open(now, wanted);
      return split(now, at, how === "right" ? "right" : "down", wanted);
    });
  };
  const closePane = (id: PaneId) => {
    if (isAlone) page.close();
    else void workspace.edit((now) => close(now, id));
  };
  const run = (command: WorkspaceCommand) => {
    if (command.do === "palette") setListed(!isListed);
    else if (command.do === "new") show(fresh(command.sandbox), "here");
    else if (command.do === "divide") show(fresh(), command.direction === "right" ? "right" : "below");
    else if (command.do === "close") focusId !== undefined && closePane(focusId);
    else workspace.editHere((now) => applied(now, command));
  };
  const replacePane = (id: PaneId) => {
    if (isAlone) page.newSession();
    else void workspace.edit((now) => close(split(now, id, "right", fresh()), id));
  };

  const keys = keysOfCommand({ do: "palette" }) ?? "";
  const tools = (
    <>
      {rights.mayStartAnother ? (
        <button
          type="button"
          className="sbx-quiet sbx-or-sign"
          aria-label={words.sessions}
          title={words.sessionsTitle(keys)}
          onClick={() => setListed(true)}
        >
          <span>{words.sessions}</span>
          <span>{words.sessionsSign}</span>
        </button>
      ) : null}
      <button
        type="button"
        className="sbx-quiet sbx-or-sign"
        aria-label={settings.open}
        title={settings.openTitle}
        onClick={() => setSettings(true)}
      >
        <span>{settings.open}</span>
        <span>{settings.openSign}</span>
      </button>
      <Account user={user} onLogin={() => page.login()} onLogout={() => void page.logout()} />
    </>
  );

  return (
    <main
      className="sbx-ground sbx-page sbx-desk"
      data-scheme={chosen.scheme}
      onKeyDownCapture={(event) => {
        const isInDialog = event.target instanceof Element && event.target.closest("dialog") !== null;
        const command = rights.mayStartAnother ? commandOfKey(event.nativeEvent, all.length > 1) : undefined;
        // In the list its key closes it; in a dialog no other means anything.
        if (command === undefined || (isInDialog && !(isListed && command.do === "palette"))) return;
        event.preventDefault();
        event.stopPropagation();
        if (!event.repeat || command.do === "focus") run(command);
      }}
      onClick={({ nativeEvent, target }) => {
        if (isCovered || !isUnfocused(nativeEvent)) return;
        const id = target instanceof Element ? target.closest("[data-pane]")?.getAttribute("data-pane") : undefined;
        const live = sessions.current.get(id ?? focusId ?? "");
        live?.screen.focus();
      }}
      onKeyDown={(event) => {
        const isAround = event.target instanceof Element && event.target.closest(".sbx-tabs, .sbx-divider") !== null;
        if (!isAround || (event.key !== "Escape" && !(event.ctrlKey && event.key === "F6"))) return;
        event.preventDefault();
        focusTerminal();
      }}
    >
      <h1 className="sbx-unseen">{focusId ?? words.nothing}</h1>
      {isAlone ? null : (
        <TabBar
          tabs={layout.tabs}
          names={names}
          current={layout.current}
          dragged={dragged}
          onDrag={setDragged}
          onDrop={(index) => {
            setDragged(undefined);
            if (typeof dragged === "number") {
              workspace.editHere((now) => moveTab(now, dragged, index > dragged ? index - 1 : index));
            } else if (dragged !== undefined) workspace.editHere((now) => moveToOwnTab(now, dragged, index));
          }}
          onShow={(index) => workspace.editHere((now) => showTab(now, index))}
          onMove={(index, to) => workspace.editHere((now) => moveTab(now, index, to))}
          onClose={(index) =>
            workspace.editHere((now) => {
              const tab = now.tabs[index];
              return tab === undefined ? now : targetsOf(tab.root).map(paneIdOf).reduce(close, now);
            })
          }
          onNew={() => run({ do: "new" })}
          isKept={isKept}
        >
          {tools}
        </TabBar>
      )}
      {layout.tabs.length === 0 ? (
        <div className="sbx-center">
          <div className="sbx-card">
            <h2>{words.nothing}</h2>
            <p>{words.nothingText}</p>
            <button type="button" className="sbx-button sbx-primary" ref={takeFocus} onClick={() => run({ do: "new" })}>
              {words.new}
            </button>
            <button type="button" className="sbx-button" onClick={() => setListed(true)}>
              {words.sessions}
            </button>
          </div>
        </div>
      ) : (
        <Panes
          tabs={layout.tabs}
          names={names}
          hasTabs={!isAlone}
          current={layout.current}
          shown={shown}
          dragged={dragged}
          onDrag={setDragged}
          onDrop={(at, direction) => {
            setDragged(undefined);
            workspace.editHere((now) => {
              const tab = typeof dragged === "number" ? now.tabs[dragged] : now.tabs[tabOf(now, dragged ?? "")];
              const targets = tab === undefined ? [] : targetsOf(tab.root);
              const moved = targets.filter((one) => typeof dragged === "number" || paneIdOf(one) === dragged);
              return moved.reduce((before, one) => split(before, at, direction, one), now);
            });
          }}
          onFocus={(id) => isMeant.current && workspace.editHere((now) => focus(now, id))}
          onClose={closePane}
          onResize={(path, share) => workspace.editHere((now) => resize(now, path, share))}
        >
          {(id, at) => {
            const { address, resumes } = page.attachmentOf(at);
            const freshOf = (of: SessionTarget): Pick<TerminalProps, "freshCredential"> =>
              rights.mayRenew ? { freshCredential: (role) => page.freshCredential(of, role) } : {};
            const ofPane = (session: string) => {
              const pane = { sandbox: at.sandbox, session };
              return { resumes: page.attachmentOf(pane).resumes, ...freshOf(pane) };
            };
            return (
              <PanedTerminal
                {...chosen}
                wsUrl={address.attachUrl}
                session={address.session}
                resumes={resumes}
                renderer={address.renderer}
                isAdmin={rights.isAdmin}
                {...freshOf(at)}
                ofPane={rights.mayStartAnother ? ofPane : undefined}
                onLogin={() => page.login()}
                onClose={() => closePane(id)}
                onReader={(isReader) => page.preferences.set({ isReader })}
                takesFiles={rights.mayStartAnother}
                {...(rights.previews === undefined ? {} : { previews: rights.previews })}
                onSettings={() => setSettings(true)}
                onTitle={(text) => setTitles((before) => ({ ...before, [id]: text }))}
                onReady={(live) => sessions.current.set(id, live)}
                {...(rights.mayShare ? { onShare: () => setShared(at) } : {})}
                {...(rights.mayStartAnother ? { onNewSession: () => replacePane(id) } : {})}
              >
                {isAlone ? tools : null}
              </PanedTerminal>
            );
          }}
        </Panes>
      )}
      {isInSettings ? (
        <SettingsDialog
          preferences={preferences}
          onChange={(change) => page.preferences.set(change)}
          onClose={() => setSettings(false)}
        />
      ) : null}
      {shared === undefined ? null : <ShareDialog target={shared} onClose={() => setShared(undefined)} />}
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

/** A person who goes through a pane's buttons by Tab stays there. */
function isAtControlOf(id: PaneId | undefined): boolean {
  const { activeElement } = document;
  const isInPane = activeElement?.closest("[data-pane]")?.getAttribute("data-pane") === id;
  return isInPane && activeElement?.closest(".xterm") === null;
}
