// The terminal as a React component: a session on a stage, the bar under it, and a card over it where there is nothing to
// see. terminal-session.ts and status.ts decide what to do; this draws.

import "@xterm/xterm/css/xterm.css";
import "../ui/base.css";
import "../ui/style.css";
import "../ui/controls.css";
import "../ui/small-windows.css";
import "../sharing/participants.css";
import "../ui/dialogs.css";
import "../ui/settings.css";
import "../output/tools.css";
import "../ui/fingers.css";
import {
  type ComponentProps,
  type CSSProperties,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { keyboardStateOf, mayType } from "sandbox-stdio/core";
import { obstacleText, type Remedy } from "../connection/status.ts";
import { QUIET } from "../output/attention.ts";
import { titleWith } from "../output/program-notices.ts";
import { TerminalToolsView } from "../output/TerminalToolsView.tsx";
import { takesKeyboard } from "../sharing/hand-over-key.ts";
import { ParticipantsBar } from "../sharing/ParticipantsBar.tsx";
import type { ParticipantsState } from "../sharing/participants-model.ts";
import type { GuardState } from "../terminal/guard.ts";
import { TouchKeys } from "../terminal/TouchKeys.tsx";
import {
  isInDialog,
  isInTerminal,
  isUnfocused,
  isWithin,
  leaveTerminal,
  remedyOfKey,
} from "../terminal/terminal-keys.ts";
import { shortcutOf } from "../terminal/terminal-shortcuts.ts";
import { textsWith } from "../texts/texts.ts";
import { TextsContext, useTexts } from "../texts/texts-context.ts";
import { DownloadToast, DownloadView } from "../transfer/DownloadView.tsx";
import { UploadView } from "../transfer/UploadView.tsx";
import { warnOnClose } from "../ui/departure.ts";
import { NO_MODIFIERS } from "../ui/modifiers.ts";
import { sizedBy } from "../ui/size-limit.ts";
import { QuestionDialog } from "./QuestionDialog.tsx";
import { RefusalCard } from "./RefusalCard.tsx";
import { StatusBar } from "./StatusBar.tsx";
import { ClipboardToast, ExpiringToast, Notices, Requests, Toasts } from "./Toasts.tsx";
import { dataOf, peopleDataOf } from "./terminal-data.ts";
import { barsOf, type TerminalProps } from "./terminal-props.ts";
import { TerminalSession, type View } from "./terminal-session.ts";
import { useStatus } from "./use-status.ts";

export function Terminal(props: TerminalProps) {
  const { wsUrl, token, session, renderer, resumes, scheme, theme, font, cursor, hasLigatures, alerts, prediction } =
    props;
  const around = useTexts();
  const texts = useMemo(() => (props.texts === undefined ? around : textsWith(props.texts)), [props.texts, around]);
  const look = useMemo(
    () => ({ scheme, theme, font, cursor, hasLigatures }),
    [scheme, theme, font, cursor, hasLigatures],
  );
  const bars = barsOf(props.bars);
  const stage = useRef<HTMLDivElement>(null);
  const [live, setLive] = useState<TerminalSession>();
  const [standIn, setStandIn] = useState<TerminalSession>();
  /** The session that the bar of keys is for. */
  const keyed = standIn ?? live;
  const keyedView = useSyncExternalStore(keyed?.subscribe ?? neverChanges, keyed?.getView ?? noView);
  const view = useSyncExternalStore(live?.subscribe ?? neverChanges, live?.getView ?? noView);
  const [ownReader, setOwnReader] = useState(false);
  const isScreenReaderMode = props.isReader ?? ownReader;
  const room = useSyncExternalStore(live?.room.subscribe ?? neverChanges, live?.room.getState ?? noRoom);
  const guard = useSyncExternalStore(live?.guard.subscribe ?? neverChanges, live?.guard.getState ?? noGuard);
  const section = useRef<HTMLElement>(null);

  const make = useEffectEvent((element: HTMLDivElement) => {
    const name = session ?? new URL(wsUrl, location.href).searchParams.get("session") ?? crypto.randomUUID();
    const { freshCredential, previews, takesFiles, isSized } = props;
    const given = { token, resumes, renderer, freshCredential, look, texts, previews, takesFiles, isSized };
    const made = new TerminalSession(element, { ...given, url: wsUrl, session: name });
    // Which of several panes has the focus, their owner says.
    if (isSized !== true) made.screen.focus();
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
    if (live !== undefined) live.screen.look = look;
  }, [live, look]);
  useEffect(() => {
    if (live !== undefined) live.attention.alerts = alerts ?? QUIET;
  }, [live, alerts]);
  useEffect(() => {
    if (live !== undefined) live.echo.mode = prediction ?? "never";
  }, [live, prediction]);
  useEffect(() => {
    if (live !== undefined) live.room.words = texts.people;
  }, [live, texts]);
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
  const title = titleWith(view?.progress, view?.title ?? "").trim();
  const named = useEffectEvent((text: string) => props.onTitle?.(text));
  useEffect(() => named(title), [title]);

  const isByLink = new URL(wsUrl, location.href).searchParams.has("ticket");
  const status = useStatus(view, isByLink, texts);
  const can = {
    retry: true,
    login: props.onLogin !== undefined,
    // A link is for the process that it was made for.
    again: !isByLink,
    new: props.onNewSession !== undefined,
    close: props.onClose !== undefined,
  };
  const remedies = status.remedies.filter((remedy) => can[remedy]);
  const remedy = (which: Remedy) => {
    if (which === "login") props.onLogin?.();
    else if (which === "new") props.onNewSession?.();
    else if (which === "close") props.onClose?.();
    else if (which === "again") live?.connection.startAgain();
    else live?.connection.retryNow();
    live?.screen.focus();
  };

  const isAtWork = props.warnsOnClose === true && view?.hasTyped === true && view.client.phase !== "ended";
  useEffect(() => (isAtWork ? warnOnClose() : undefined), [isAtWork]);

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
  const files = live?.files;
  const download = (path: string) => {
    answer(false);
    files?.downloads.start(path);
  };
  const obstacle = view === undefined ? undefined : obstacleText(view.client, texts.obstacle);
  const isReadOnly = obstacle !== undefined || (room?.people !== undefined && !mayType(room.people));
  useEffect(() => {
    if (live !== undefined) live.screen.isReadOnly = isReadOnly;
  }, [live, isReadOnly]);

  /** Whether a key that was pressed is the page's. */
  const takesKey = (event: globalThis.KeyboardEvent): boolean => {
    if (isWithin(event.target, section.current)) return false;
    const atEnd = status.name === "exited" ? remedyOfKey(event) : undefined;
    if (atEnd !== undefined && can[atEnd]) {
      remedy(atEnd);
      return true;
    }
    if (live === undefined || isInDialog(event.target)) return false;
    const shortcut = shortcutOf(event);
    if (shortcut === "settings" && props.onSettings !== undefined) {
      props.onSettings();
      return true;
    }
    return (shortcut !== undefined && live.tools.do(shortcut)) || takesKeyboard(event, live.room);
  };

  // The way out of a pane, and back, is that of the whole.
  const ways: Pick<ComponentProps<"section">, "onClick" | "onKeyDown" | "onFocusCapture" | "onBlurCapture"> = {
    onClick: ({ nativeEvent }) => isUnfocused(nativeEvent) && focus(),
    onKeyDown: (event) => leaveTerminal(event, section.current, live?.screen),
    onFocusCapture: (event) => {
      if (isInTerminal(event.target)) live?.screen.joinTabOrder(true);
    },
    onBlurCapture: ({ currentTarget, relatedTarget }) => {
      if (!currentTarget.contains(relatedTarget)) live?.screen.joinTabOrder(true);
    },
  };
  const ground: (CSSProperties & Record<"--_paper", string>) | undefined = theme?.background
    ? { "--_paper": theme.background }
    : undefined;
  return (
    <TextsContext value={texts}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form. A landmark would have to be unique. */}
      <section
        className="sbx-ground sbx-terminal"
        role="group"
        aria-label={texts.terminal.label}
        ref={section}
        onKeyDownCapture={(event) => {
          if (!takesKey(event.nativeEvent)) return;
          event.preventDefault();
          event.stopPropagation();
        }}
        {...(props.isSized === true ? {} : ways)}
        data-scheme={scheme ?? "dark"}
        {...dataOf(view, status)}
        {...peopleDataOf(room, isReadOnly)}
      >
        {/* Bars are there from the first moment: the stage has its size before it is measured. */}
        {bars.people ? (
          <ParticipantsBar
            room={live?.room}
            state={room}
            obstacle={obstacle}
            isAdmin={props.isAdmin ?? false}
            isCreator={view?.client.phase === "attached" && view.client.hello.creator === true}
            onShare={status.name === "refused" ? undefined : props.onShare}
            onDone={focus}
          />
        ) : null}
        <div className="sbx-stage-area" style={ground}>
          <div className="sbx-stage" ref={stage} />
          {live === undefined ? null : props.over?.(live, setStandIn)}
          {live === undefined ? null : <TerminalToolsView tools={live.tools} onDone={focus} />}
          {files === undefined ? null : <UploadView uploads={files.uploads} onDone={focus} />}
          {files === undefined ? null : <DownloadView downloads={files.downloads} onDone={focus} />}
          {view === undefined || live === undefined || room === undefined ? null : (
            <Toasts>
              <Requests room={live.room} state={room} onDone={focus} />
              {guard?.clipboard === undefined ? null : (
                <ClipboardToast
                  request={guard.clipboard}
                  onAnswer={(isYes) => {
                    if (guard.clipboard !== undefined) void live.guard.answerClipboard(guard.clipboard, isYes);
                    focus();
                  }}
                  onAlways={() => {
                    if (guard.clipboard !== undefined) void live.guard.alwaysCopy(guard.clipboard);
                    focus();
                  }}
                />
              )}
              {files === undefined ? null : <DownloadToast downloads={files.downloads} onDone={focus} />}
              {view.loginEndsAtMs === undefined ? null : (
                <ExpiringToast
                  endsAtMs={view.loginEndsAtMs}
                  onLogin={
                    props.freshCredential === undefined || props.onLogin === undefined
                      ? undefined
                      : () => remedy("login")
                  }
                />
              )}
              <Notices view={view} onDismiss={dismiss} />
            </Toasts>
          )}
          {guard?.question === undefined ? null : (
            <QuestionDialog question={guard.question} onAnswer={answer} onDownload={files && download} />
          )}
          {status.name === "refused" ? (
            <RefusalCard status={status} remedies={remedies} onRemedy={remedy} hasBegun={view?.hasBegun ?? false} />
          ) : null}
        </div>
        {bars.keys ? (
          <TouchKeys
            modifiers={keyedView?.modifiers ?? NO_MODIFIERS}
            hasSelection={keyedView?.hasSelection ?? false}
            mayType={!isReadOnly}
            onPress={(text) => keyed?.screen.press(text)}
            onModifiers={(modifiers) => keyed?.setModifiers(modifiers)}
            onPaste={() => void keyed?.guard.pasteClipboard().then(focus)}
            onCopy={() => keyed?.screen.copy()}
          />
        ) : null}
        {bars.status ? (
          <StatusBar
            status={status}
            remedies={status.name === "refused" ? [] : remedies}
            onRemedy={remedy}
            place={view === undefined ? "" : texts.terminal.place(view.sandbox, view.session)}
            size={view === undefined ? "" : texts.terminal.size(view.cols, view.rows)}
            isFramed={view?.isFramed ?? false}
            sizedBy={sizedBy(room?.people, texts.people)}
            link={view?.link}
            isSecret={
              hasEnded || room?.people === undefined || keyboardStateOf(room.people) === "none"
                ? undefined
                : view?.isSecret
            }
            onSecret={(isOn) => {
              live?.setSecret(isOn);
              focus();
            }}
            isScreenReaderMode={isScreenReaderMode}
            onScreenReaderMode={(isOn) => {
              setOwnReader(isOn);
              props.onReader?.(isOn);
              focus();
            }}
          >
            {props.children}
          </StatusBar>
        ) : null}
      </section>
    </TextsContext>
  );
}

const neverChanges = () => () => undefined;
const noView = () => undefined;
const noRoom = (): ParticipantsState | undefined => undefined;
const noGuard = (): GuardState | undefined => undefined;
