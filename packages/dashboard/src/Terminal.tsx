// The terminal as a React component: a session on a stage, the bar under it, and a card over it where there is nothing to
// see. What to do is decided in terminal-session.ts and status.ts; this draws.

import "@xterm/xterm/css/xterm.css";
import "./style.css";
import "./controls.css";
import "./small-windows.css";
import "./participants.css";
import "./dialogs.css";
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useReducer,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { keyboardStateOf, mayType, type Role } from "sandbox-stdio/core";
import type { GuardState } from "./guard.ts";
import { takesKeyboard } from "./hand-over-key.ts";
import { ParticipantsBar } from "./ParticipantsBar.tsx";
import type { ParticipantsState } from "./participants-model.ts";
import { QuestionDialog } from "./QuestionDialog.tsx";
import type { ResumeStore } from "./resume-store.ts";
import { REMEDY_WORDS, StatusBar } from "./StatusBar.tsx";
import {
  describe,
  missedWords,
  obstacleWords,
  type Remedy,
  type SessionFacts,
  type Status,
  unsentWords,
} from "./status.ts";
import { ClipboardToast, Notices, Requests, Toasts } from "./Toasts.tsx";
import { TouchKeys } from "./TouchKeys.tsx";
import { TerminalSession, type View } from "./terminal-session.ts";

export type TerminalProps = {
  /** Address of `/attach`, http(s) or ws(s), with what describes sandbox and process in its query. */
  readonly wsUrl: string;
  /** A bearer token. Without one the browser's cookie speaks. A new one is told to the session without reconnecting. */
  readonly token?: string;
  /** The process has ended. `signal` where one killed it; `code` is then 128 and its number. */
  readonly onExit?: (code: number, signal?: string) => void;
  /** The session's name; else that in `wsUrl`, else one made up for this mount. */
  readonly session?: string;
  /** Where the place in the session is kept over a reload; read once, when the terminal is mounted. */
  readonly resumes?: ResumeStore;
  /** `auto` (WebGL with fallback) or `dom`. */
  readonly renderer?: "auto" | "dom";
  /** Whether this person may take the keyboard without asking (scope `sandbox:admin`). The server decides. */
  readonly isAdmin?: boolean;
  /** Asked, again and again, when the token runs out: a fresh one, or a ticket made with one; undefined as long as there is none. */
  readonly freshCredential?: (role: Role) => Promise<string | undefined>;
  /** What the button "Share" does; without it there is none. */
  readonly onShare?: () => void;
  /** What the buttons "Log in" and "New session" do; where one is missing, its button is too. */
  readonly onLogin?: () => void;
  readonly onNewSession?: () => void;
  /** The process names its window. */
  readonly onTitle?: (title: string) => void;
  /** Called with what is behind the component, once it is mounted: for debugging and tests. */
  readonly onReady?: (session: TerminalSession) => void;
  /** More for the end of the bar. */
  readonly children?: ReactNode;
};

export function Terminal(props: TerminalProps) {
  const { wsUrl, token, session, renderer, resumes } = props;
  const stage = useRef<HTMLDivElement>(null);
  const [live, setLive] = useState<TerminalSession>();
  const view = useSyncExternalStore(live?.subscribe ?? neverChanges, live?.getView ?? noView);
  const [isScreenReaderMode, setScreenReaderMode] = useState(false);
  const room = useSyncExternalStore(live?.room.subscribe ?? neverChanges, live?.room.getState ?? noRoom);
  const guard = useSyncExternalStore(live?.guard.subscribe ?? neverChanges, live?.guard.getState ?? noGuard);
  const section = useRef<HTMLElement>(null);

  const make = useEffectEvent((element: HTMLDivElement) => {
    const name = session ?? new URL(wsUrl, location.href).searchParams.get("session") ?? crypto.randomUUID();
    const { freshCredential } = props;
    const options = { url: wsUrl, session: name, token, resumes, renderer, freshCredential };
    const made = new TerminalSession(element, options);
    made.screen.focus();
    props.onReady?.(made);
    return made;
  });
  // Another address or name is another session; another token is not.
  useEffect(() => {
    if (stage.current === null) return;
    const made = make(stage.current);
    setLive(made);
    return () => {
      setLive(undefined);
      made.dispose();
    };
  }, [wsUrl, session, renderer]);

  useEffect(() => live?.connection.setToken(token), [live, token]);
  useEffect(() => {
    if (live !== undefined) live.screen.isScreenReaderMode = isScreenReaderMode;
  }, [live, isScreenReaderMode]);

  const told = useEffectEvent((view: View) => {
    if (view.client.phase !== "ended" || view.client.end.kind !== "exit") return;
    const { code, signal } = view.client.end;
    props.onExit?.(code, signal);
  });
  const hasEnded = view?.client.phase === "ended";
  // Told once when it ends, whatever else changes.
  useEffect(() => {
    if (hasEnded && view !== undefined) told(view);
  }, [hasEnded]);
  const title = view?.title ?? "";
  const named = useEffectEvent((text: string) => props.onTitle?.(text));
  useEffect(() => named(title), [title]);

  const status = useStatus(view, new URL(wsUrl, location.href).searchParams.has("ticket"));
  const can = { retry: true, login: props.onLogin !== undefined, new: props.onNewSession !== undefined };
  const remedies = status.remedies.filter((remedy) => can[remedy]);
  const remedy = (which: Remedy) => {
    if (which === "login") props.onLogin?.();
    else if (which === "new") props.onNewSession?.();
    else live?.connection.retryNow();
    live?.screen.focus();
  };

  // A button that was pressed goes, and would take the keyboard with it.
  const focus = () => live?.screen.focus();
  const dismiss = () => {
    live?.dismissNotices();
    focus();
  };
  const answer = (isYes: boolean) => {
    live?.guard.answer(isYes);
    focus();
  };
  const obstacle = view === undefined ? undefined : obstacleWords(view.client);
  const isReadOnly = obstacle !== undefined || (room?.people !== undefined && !mayType(room.people));
  useEffect(() => {
    if (live !== undefined) live.screen.isReadOnly = isReadOnly;
  }, [live, isReadOnly]);

  return (
    <section
      className="sbx-terminal"
      aria-label="Terminal"
      ref={section}
      onKeyDownCapture={(event) => {
        if (live === undefined || !takesKeyboard(event.nativeEvent, live.room)) return;
        event.preventDefault();
        event.stopPropagation();
      }}
      onKeyDown={(event) => stepOut(event, section.current, focus)}
      {...dataOf(view, status)}
      {...peopleDataOf(room, isReadOnly)}
    >
      <ParticipantsBar
        room={live?.room}
        state={room}
        obstacle={obstacle}
        isAdmin={props.isAdmin ?? false}
        onShare={props.onShare}
      />
      <div className="sbx-stage-area">
        <div className="sbx-stage" ref={stage} />
        {view === undefined || live === undefined || room === undefined ? null : (
          <Toasts>
            <Requests room={live.room} state={room} onDone={focus} />
            {guard?.clipboard === undefined ? null : (
              <ClipboardToast
                wish={guard.clipboard}
                onAnswer={(isYes) => {
                  if (guard.clipboard !== undefined) void live.guard.answerClipboard(guard.clipboard, isYes);
                  focus();
                }}
              />
            )}
            <Notices texts={noticeTexts(view)} onDismiss={dismiss} />
          </Toasts>
        )}
        {guard?.question === undefined ? null : <QuestionDialog question={guard.question} onAnswer={answer} />}
        {status.name === "refused" ? <RefusalCard status={status} remedies={remedies} onRemedy={remedy} /> : null}
      </div>
      {/* Both are there from the first moment: the stage has its size before it is measured. */}
      <TouchKeys onPress={(text) => live?.screen.press(text)} />
      <StatusBar
        status={status}
        remedies={status.name === "refused" ? [] : remedies}
        onRemedy={remedy}
        place={view?.place ?? ""}
        size={view === undefined ? "" : `${view.cols}×${view.rows}`}
        isFramed={view?.isFramed ?? false}
        link={view?.link}
        isSecret={room?.people === undefined || keyboardStateOf(room.people) === "none" ? undefined : view?.isSecret}
        onSecret={(isOn) => {
          live?.setSecret(isOn);
          focus();
        }}
        isScreenReaderMode={isScreenReaderMode}
        onScreenReaderMode={(isOn) => {
          setScreenReaderMode(isOn);
          focus();
        }}
      >
        {props.children}
      </StatusBar>
    </section>
  );
}

/** Before the terminal is on the page. */
const NOT_YET: SessionFacts = {
  client: { phase: "connecting", attempt: 0 },
  upstream: "running",
  resumedAtMs: undefined,
  hasMissedOutput: false,
};

/** The words for now; looks again every second while they pass. */
function useStatus(view: View | undefined, isByLink: boolean): Status {
  const [, look] = useReducer((count: number) => count + 1, 0);
  const status = describe(view ?? NOT_YET, performance.now(), isByLink);
  const { isPassing } = status;
  useEffect(() => {
    if (!isPassing) return;
    const timer = setInterval(look, 1000);
    return () => clearInterval(timer);
  }, [isPassing]);
  return status;
}

/** What tests and style sheets may read of the state. */
function dataOf(view: View | undefined, status: Status): Record<`data-${string}`, string | number> {
  if (view === undefined) return { "data-state": status.name };
  const end = view.client.phase === "ended" && view.client.end.kind === "exit" ? view.client.end : undefined;
  return {
    "data-state": status.name,
    "data-cols": view.cols,
    "data-rows": view.rows,
    "data-renderer": view.renderer,
    "data-resumes": view.resumes,
    "data-unsent-keys": view.unsentKeys,
    "data-missed-bytes": view.missedBytes,
    "data-framed": String(view.isFramed),
    ...(end === undefined ? {} : { "data-exit-code": end.code }),
    ...(end?.signal === undefined ? {} : { "data-exit-signal": end.signal }),
  };
}

function peopleDataOf(
  room: ParticipantsState | undefined,
  isReadOnly: boolean,
): Record<`data-${string}`, string | number> {
  const { people } = room ?? {};
  if (people === undefined) return {};
  return {
    "data-people": people.participants.length,
    "data-keyboard": keyboardStateOf(people),
    "data-read-only": String(isReadOnly),
  };
}

function noticeTexts(view: View): string[] {
  const texts = view.notices.map((notice) => notice.text);
  if (view.missedBytes > 0) texts.push(missedWords(view.missedBytes));
  if (view.unsentKeys > 0) texts.push(unsentWords(view.unsentKeys));
  return texts;
}

/** Ctrl+F6 leads from the terminal, which takes every other key, to the buttons around it; it and Escape lead back. */
function stepOut(event: KeyboardEvent<HTMLElement>, section: HTMLElement | null, focusTerminal: () => void): void {
  const { target } = event;
  if (!(target instanceof Element) || target.closest("dialog") !== null) return;
  const isInTerminal = target.closest(".xterm") !== null;
  const isStep = event.ctrlKey && event.key === "F6";
  if (isStep && isInTerminal) section?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
  else if ((isStep || event.key === "Escape") && !isInTerminal) focusTerminal();
  else return;
  event.preventDefault();
}

type RefusalCardProps = {
  readonly status: Status;
  readonly remedies: readonly Remedy[];
  readonly onRemedy: (remedy: Remedy) => void;
};

function RefusalCard({ status, remedies, onRemedy }: RefusalCardProps) {
  return (
    <div className="sbx-veil">
      <div className="sbx-card" role="alert">
        <h1>{status.words}</h1>
        <p>{status.detail}</p>
        {remedies.map((remedy, i) => (
          <button
            type="button"
            className={i === 0 ? "sbx-button sbx-primary" : "sbx-button"}
            key={remedy}
            onClick={() => onRemedy(remedy)}
          >
            {REMEDY_WORDS[remedy]}
          </button>
        ))}
      </div>
    </div>
  );
}

const neverChanges = () => () => undefined;
const noView = () => undefined;
const noRoom = (): ParticipantsState | undefined => undefined;
const noGuard = (): GuardState | undefined => undefined;
