// The windows and panes of a session under tmux, drawn over its terminal in the same cells. Each pane is a terminal on its own session.
// session-panes.ts decides; this draws.

import "./session-panes.css";
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type PointerEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { defined } from "sandbox-stdio/core";
import { type Border, dragged, neighbourOf, paneAddress, paneSession, viewOf } from "../session/panes-model.ts";
import { Terminal } from "../session/Terminal.tsx";
import type { OfPane, TerminalProps } from "../session/terminal-props.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { TerminalView } from "../terminal/terminal-view.ts";
import { useTexts } from "../texts/texts-context.ts";
import { PaneTools } from "./PaneTools.tsx";

export type SessionPanesViewProps = {
  readonly live: TerminalSession;
  /** Properties of the whole session. */
  readonly whole: TerminalProps;
  readonly ofPane: OfPane;
  /** Receives the session of the focused pane; undefined: the session's own. */
  readonly onStandIn: (session: TerminalSession | undefined) => void;
};

type Cell = { readonly width: number; readonly height: number; readonly scale: number };

const DIRECTIONS: Readonly<Record<string, "left" | "right" | "up" | "down">> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

export function SessionPanesView({ live, whole, ofPane, onStandIn }: SessionPanesViewProps) {
  const { panes } = live;
  const { list, focus, opened } = useSyncExternalStore(panes.subscribe, panes.getState);
  const { session, isSecret, client } = useSyncExternalStore(live.subscribe, live.getView);
  const cell = useCell(live.screen);
  const { panes: words } = useTexts();
  const ground = useRef<HTMLDivElement>(null);
  const [lives, setLives] = useState<ReadonlyMap<string, TerminalSession>>(new Map());
  const [dragged, setDragged] = useState<string>();
  const onLive = useCallback((id: string, one: TerminalSession) => setLives((all) => new Map(all).set(id, one)), []);
  // Release the terminals of closed panes.
  useEffect(() => {
    const ids = new Set(list?.panes.map(({ id }) => id));
    setLives((all) => {
      const kept = [...all].filter(([id]) => ids.has(id));
      return kept.length === all.size ? all : new Map(kept);
    });
  }, [list]);
  // A viewer can't start sessions, so it opens no pane.
  const role = client.phase === "attached" ? client.hello.you.role : undefined;
  const [isDriver, setDriver] = useState(false);
  useEffect(() => {
    if (role !== undefined) setDriver(role === "driver");
  }, [role]);
  const view = useMemo(() => (list === undefined ? undefined : viewOf(list)), [list]);
  const isDrawn = isDriver && view !== undefined && view.panes.length > 0;

  const focused = focus === undefined ? undefined : lives.get(focus);
  const isFocusSeen = view?.panes.some(({ pane }) => pane.id === focus) ?? false;
  useEffect(() => {
    if (!isDrawn) return;
    live.screen.standIn = {
      focus: () => focused?.screen.focus(),
      joinTabOrder: (isIn) => {
        for (const { screen } of lives.values()) screen.joinTabOrder(isIn);
      },
    };
    return () => {
      live.screen.standIn = undefined;
    };
  }, [isDrawn, live, focused, lives]);
  useEffect(() => {
    onStandIn(isDrawn ? focused : undefined);
    return () => onStandIn(undefined);
  }, [isDrawn, focused, onStandIn]);
  // The focus follows tmux from a pane or from nowhere, but not from a button, dialog or other terminal. A pane of another window gets
  // it once it is visible.
  const isMeant = useRef(false);
  useEffect(() => {
    const { activeElement } = document;
    const root = ground.current;
    if (!isDrawn || !isFocusSeen || root === null || root.closest("[inert]") !== null) return;
    const isHere = root.contains(activeElement) && activeElement?.closest(".xterm") !== null;
    // The terminal behind keeps the focus until the browser notices that it is hidden.
    const isNowhere = activeElement === null || activeElement === document.body;
    const isBehind = activeElement === live.screen.terminal.textarea;
    if (isHere || isNowhere || isBehind || isMeant.current) focused?.screen.focus();
    if (focused !== undefined) isMeant.current = false;
  }, [isDrawn, isFocusSeen, focused, live]);
  const focusPane = () => {
    if (panes.getState().focus === focus) focused?.screen.focus();
    else isMeant.current = true;
  };

  const { scheme, theme, font, cursor, hasLigatures, alerts, prediction, isReader, renderer, texts } = whole;
  const scale = cell?.scale ?? 1;
  const drawnFont = useMemo(() => ({ ...font, size: (font?.size ?? 14) * scale }), [font, scale]);
  if (!isDrawn || list === undefined || cell === undefined) return null;
  const window = list.windows.find(({ active }) => active);
  const isSeen = new Set(view.panes.map(({ pane }) => pane.id));
  const boxStyle = (left: number, top: number, cols: number, rows: number): CSSProperties => ({
    left: left * cell.width,
    top: top * cell.height,
    width: cols * cell.width,
    height: rows * cell.height,
  });
  const onKey = (event: KeyboardEvent) => {
    const direction = DIRECTIONS[event.key];
    const isFree = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey && isSeen.size > 1;
    if (direction === undefined || !isFree || focus === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const to = neighbourOf(list, focus, direction);
    if (to !== undefined) panes.focus(to.id);
  };
  return (
    <div className="sbx-tmux" onKeyDownCapture={onKey}>
      <PaneTools
        panes={panes}
        mayOrder={live.connection.mayType}
        dragged={dragged}
        onDrag={setDragged}
        onDone={focusPane}
      />
      <div className="sbx-tmux-ground" ref={ground}>
        <div className="sbx-tmux-window" style={boxStyle(0, 0, window?.cols ?? 0, window?.rows ?? 0)}>
          {list.panes
            .filter(({ id }) => opened.has(id))
            .map(({ id, name, left, top, cols, rows }) => {
              const own = paneSession(session, id);
              return (
                <section
                  key={id}
                  className="sbx-tmux-pane"
                  data-tmux-pane={id}
                  data-focus={id === focus && isSeen.size > 1}
                  data-seen={isSeen.has(id)}
                  inert={!isSeen.has(id)}
                  aria-label={words.pane(id, name)}
                  style={boxStyle(left, top, cols, rows)}
                  onFocusCapture={() => panes.focus(id)}
                >
                  <PaneTerminal
                    {...defined({ scheme, theme, cursor, hasLigatures, alerts, prediction, isReader, renderer, texts })}
                    {...defined({ token: whole.token, previews: whole.previews, takesFiles: whole.takesFiles })}
                    {...defined({
                      warnsOnClose: whole.warnsOnClose,
                      isOptionMeta: whole.isOptionMeta,
                      isAdmin: whole.isAdmin,
                      onSettings: whole.onSettings,
                      onLogin: whole.onLogin,
                    })}
                    {...ofPane(own)}
                    id={id}
                    wsUrl={paneAddress(whole.wsUrl, location.href, session, id)}
                    session={own}
                    font={drawnFont}
                    isSecret={isSecret}
                    onLive={onLive}
                  />
                  {dragged?.startsWith("%") && dragged !== id ? (
                    // biome-ignore lint/a11y/noStaticElementInteractions: for what a mouse drags; a key changes places by the button.
                    <div
                      className="sbx-drop-ground sbx-tmux-drop"
                      onDragOver={(event) => event.preventDefault()}
                      onDrop={(event) => {
                        event.preventDefault();
                        setDragged(undefined);
                        panes.swap(dragged, id);
                      }}
                    />
                  ) : null}
                </section>
              );
            })}
          {view.borders.map((border) => (
            <PaneBorder
              key={`${border.pane.id} ${border.side}`}
              border={border}
              cell={cell}
              onResize={(cols, rows) => panes.resize(border.pane.id, cols, rows)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The drawn size of a cell of the terminal behind, on whose grid the panes lie. */
function useCell(screen: TerminalView): Cell | undefined {
  const [cell, setCell] = useState<Cell>();
  useEffect(() => {
    const cells = screen.terminal.element?.querySelector(".xterm-screen");
    if (cells === null || cells === undefined) return;
    const observer = new ResizeObserver(() => {
      const { width, height } = cells.getBoundingClientRect();
      const { cols, rows } = screen.terminal;
      if (width > 0 && height > 0) setCell({ width: width / cols, height: height / rows, scale: screen.scale });
    });
    observer.observe(cells);
    return () => observer.disconnect();
  }, [screen]);
  return cell;
}

type PaneTerminalProps = Omit<TerminalProps, "bars" | "isSized" | "onReady" | "over"> & {
  readonly id: string;
  readonly isSecret: boolean;
  readonly onLive: (id: string, live: TerminalSession) => void;
};

/** The pane exists, so its session should: reconnect attempts, each after twice the delay. */
const TRIES = 6;
const FIRST_MS = 500;

const PaneTerminal = memo(function PaneTerminal({ id, isSecret, onLive, ...props }: PaneTerminalProps) {
  const [live, setLive] = useState<TerminalSession>();
  useEffect(() => {
    if (live !== undefined) onLive(id, live);
  }, [live, id, onLive]);
  useEffect(() => live?.setSecret(isSecret), [live, isSecret]);
  useEffect(() => (live === undefined ? undefined : reconnect(live)), [live]);
  return <Terminal {...props} bars={false} isSized onReady={setLive} />;
});

/** Reconnects an ended session. A closed pane's element goes; if it stays, an earlier pane of this number had ended. */
function reconnect({ connection, getView, subscribe }: TerminalSession): () => void {
  let tries = 0;
  let timer: number | undefined;
  const check = () => {
    const { client } = getView();
    if (client.phase === "attached") tries = 0;
    if (client.phase !== "ended" || timer !== undefined || tries === TRIES) return;
    const { kind } = client.end;
    timer = window.setTimeout(
      () => {
        timer = undefined;
        if (kind === "exit") connection.startAgain();
        else connection.retryNow();
      },
      FIRST_MS * 2 ** tries,
    );
    tries += 1;
  };
  const stop = subscribe(check);
  return () => {
    stop();
    clearTimeout(timer);
  };
}

type PaneBorderProps = {
  readonly border: Border;
  readonly cell: { readonly width: number; readonly height: number };
  readonly onResize: (cols: number, rows: number) => void;
};

/** A pane's right or lower border: dragged or moved by arrow keys, it resizes the pane by whole cells. */
function PaneBorder({ border, cell, onResize }: PaneBorderProps) {
  const { panes: words } = useTexts();
  const { side, pane, left, top, width, height } = border;
  const isRight = side === "right";
  /** Start of the drag: pointer position and border. */
  const drag = useRef<{ readonly at: number; readonly border: Border; by: number }>(undefined);
  const resize = (from: Border, by: number) => {
    const size = dragged(from, by);
    if (size !== undefined) onResize(size.cols, size.rows);
  };
  const at = ({ clientX, clientY }: PointerEvent) => (isRight ? clientX : clientY);
  const onMove = (event: PointerEvent) => {
    const from = drag.current;
    if (from === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const by = Math.round((at(event) - from.at) / (isRight ? cell.width : cell.height));
    if (by === from.by) return;
    from.by = by;
    // Back at the start `dragged` requests nothing.
    if (by === 0) onResize(from.border.pane.cols, from.border.pane.rows);
    else resize(from.border, by);
  };
  const onKey = (event: KeyboardEvent) => {
    const [less, more] = isRight ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const by = event.key === less ? -1 : event.key === more ? 1 : 0;
    if (by === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    resize(border, by);
  };
  const style: CSSProperties = { left: `${left}%`, top: `${top}%` };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is no hr.
    <div
      className="sbx-tmux-border"
      role="separator"
      tabIndex={0}
      aria-orientation={isRight ? "vertical" : "horizontal"}
      aria-label={words.border}
      aria-valuenow={isRight ? pane.cols : pane.rows}
      style={
        isRight
          ? { ...style, width: cell.width, height: `${height}%` }
          : { ...style, width: `${width}%`, height: cell.height }
      }
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { at: at(event), border, by: 0 };
      }}
      onPointerMove={onMove}
      onPointerUp={() => {
        drag.current = undefined;
      }}
      onKeyDown={onKey}
    />
  );
}
