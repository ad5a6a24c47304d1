// The terminal as a React component: a session's screen, the bars around it, and what covers it. terminal-session.ts and status.ts
// decide what to do; this component draws.

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
import "../ui/forced-colors.css";
import {
  type ComponentProps,
  type CSSProperties,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import { defined, keyboardStateOf, mayType } from "sandbox-stdio/core";
import { ticketOf } from "../connection/attach-address.ts";
import { obstacleText, type Remedy } from "../connection/status.ts";
import { useOwnKeys } from "../keys/own-keys.ts";
import { Ports } from "../output/Ports.tsx";
import { TerminalToolsView } from "../output/TerminalToolsView.tsx";
import { Asks } from "../sharing/Asks.tsx";
import { takesKeyboard } from "../sharing/hand-over-key.ts";
import { ParticipantsBar } from "../sharing/ParticipantsBar.tsx";
import { isOwnWindowSizing, sizedBy } from "../sharing/participants-model.ts";
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
import { joinTabOrder } from "../terminal/terminal-view.ts";
import { useScheme } from "../terminal/use-scheme.ts";
import { type Texts, textsWith } from "../texts/texts.ts";
import { TextsContext, useTexts } from "../texts/texts-context.ts";
import { DownloadToast, DownloadView } from "../transfer/DownloadView.tsx";
import type { Files } from "../transfer/files.ts";
import { UploadView } from "../transfer/UploadView.tsx";
import { typedPaths } from "../transfer/upload-plan.ts";
import { NO_MODIFIERS } from "../ui/modifiers.ts";
import { QuestionDialog } from "./QuestionDialog.tsx";
import { RefusalCard } from "./RefusalCard.tsx";
import { StatusBar } from "./StatusBar.tsx";
import { ClipboardToast, ExpiringToast, Notices, Requests, ServerToast, Toasts } from "./Toasts.tsx";
import { dataOf, peopleDataOf } from "./terminal-data.ts";
import { barsOf, type TerminalProps } from "./terminal-props.ts";
import type { TerminalSession, View } from "./terminal-session.ts";
import { useExit, useSession, useSnapshot, useStatus, useTitle, useWarningOnClose } from "./use-session.ts";

/** Loaded when they are looked at. */
const FilesPanel = lazy(() => import("../transfer/FilesPanel.tsx"));
const RecordingPanel = lazy(() => import("../recording/RecordingPanel.tsx"));

export function Terminal(props: TerminalProps) {
  const { wsUrl, theme, keys, isCompact = false } = props;
  const scheme = useScheme(props.scheme ?? "dark", theme);
  const around = useTexts();
  const texts = useMemo(() => (props.texts === undefined ? around : textsWith(props.texts)), [props.texts, around]);
  const bars = barsOf(props.bars);
  const stage = useRef<HTMLDivElement>(null);
  const section = useRef<HTMLElement>(null);
  const [ownReader, setOwnReader] = useState(false);
  const isScreenReaderMode = props.isReader ?? ownReader;
  const live = useSession(stage, props, texts, isScreenReaderMode);
  const view = useSnapshot(live?.subscribe, live?.getView);
  const people = useSnapshot(live?.room.subscribe, live?.room.getState);
  useExit(view, props.onExit);
  useTitle(view, people, props.onTitle);
  const hasEnded = view?.client.phase === "ended";
  useWarningOnClose(props.warnsOnClose === true && view?.hasTyped === true && !hasEnded);

  const isByLink = new URL(wsUrl, location.href).searchParams.has("ticket");
  const status = useStatus(view, isByLink, texts);
  const can = {
    retry: true,
    login: props.onLogin !== undefined,
    // A share link is valid for one process.
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

  // After a button was pressed, which may disappear with the focus.
  const focus = () => live?.screen.focus();
  const obstacle = view === undefined ? undefined : obstacleText(view.client, texts.obstacle);
  const isReadOnly = obstacle !== undefined || (people?.people !== undefined && !mayType(people.people));
  useEffect(() => {
    if (live !== undefined) live.screen.isReadOnly = isReadOnly;
  }, [live, isReadOnly]);

  const own = useOwnKeys();
  /** Whether a pressed key is the page's. */
  const takesKey = (event: globalThis.KeyboardEvent): boolean => {
    if (isWithin(event.target, section.current)) return false;
    const atEnd = status.name === "exited" ? remedyOfKey(event) : undefined;
    if (atEnd !== undefined && can[atEnd]) {
      remedy(atEnd);
      return true;
    }
    if (live === undefined || isInDialog(event.target)) return false;
    const shortcut = shortcutOf(event, own);
    if (shortcut === "settings") {
      props.onSettings?.();
      return props.onSettings !== undefined;
    }
    return (shortcut !== undefined && live.tools.do(shortcut)) || takesKeyboard(event, live.room);
  };

  const [isReplay, setReplay] = useState(props.moment !== undefined);
  // The calls about it are authenticated by the cookie, or the link's ticket.
  const recorded = props.token === undefined ? live?.connection.recording : undefined;
  const ticket = ticketOf(wsUrl, location.href);
  const shared = ticket !== undefined && recorded !== undefined && { ticket, startMs: Date.parse(recorded.since) };
  // The files panel's calls are authenticated by the cookie.
  const files = props.token === undefined && !isByLink ? live?.files : undefined;
  const isBrowsing = useSnapshot(files?.subscribe, files?.getState)?.isShown === true;
  const [standIn, setStandIn] = useState<TerminalSession>();
  const paper: (CSSProperties & Record<"--_paper", string>) | undefined = theme?.background
    ? { "--_paper": theme.background }
    : undefined;
  const peopleBar = bars.people ? (
    <ParticipantsBar
      key="people"
      room={live?.room}
      state={people}
      obstacle={obstacle}
      isAdmin={props.isAdmin ?? false}
      isCreator={view?.client.phase === "attached" && view.client.hello.creator === true}
      onShare={status.name === "refused" ? undefined : props.onShare}
      heading={props.heading}
      menu={props.menu}
      onDone={focus}
    />
  ) : null;
  const statusBar = (
    <StatusBar
      key="status"
      status={status}
      remedies={status.name === "refused" ? [] : remedies}
      onRemedy={remedy}
      {...placeOf(view, props.name, texts)}
      size={view === undefined ? "" : texts.terminal.size(view.cols, view.rows)}
      isFramed={view?.isFramed ?? false}
      sizedBy={sizedBy(people?.people, texts.people)}
      onUseSize={view?.isFramed && isOwnWindowSizing(people?.people) ? () => live?.useOwnSize() : undefined}
      ports={live && !hasEnded ? <Ports offer={live.offer} onOpen={(port) => live.openPort(port)} /> : null}
      link={view?.link}
      onUpload={isReadOnly || live?.files === undefined ? undefined : () => live.files?.uploads.choose()}
      onFiles={files === undefined ? undefined : () => files.togglePanel()}
      isBrowsing={isBrowsing}
      onRecording={recorded === undefined ? undefined : () => setReplay(!isReplay)}
      isRecordingShown={isReplay}
      isRedacted={recorded?.redacted === true}
      isSecret={
        hasEnded || people?.people === undefined || keyboardStateOf(people.people) === "none"
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
    />
  );
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
        {...(props.isSized === true ? undefined : focusHandlers(live, section))}
        data-scheme={scheme}
        {...dataOf(view, status)}
        {...peopleDataOf(people, isReadOnly)}
      >
        {/* The bars are rendered from the start, so that the stage has its final size when it is measured. */}
        {isCompact ? null : peopleBar}
        <div className="sbx-stage-area" style={paper}>
          <div className="sbx-stage" ref={stage} />
          {live === undefined ? null : props.over?.(live, setStandIn)}
          {live === undefined || view === undefined ? null : (
            <Overlays
              live={live}
              view={view}
              browsed={isBrowsing ? files : undefined}
              mayType={!isReadOnly}
              onLogin={
                props.freshCredential === undefined || props.onLogin === undefined ? undefined : () => remedy("login")
              }
            />
          )}
          {status.name === "refused" ? (
            <RefusalCard status={status} remedies={remedies} onRemedy={remedy} hasBegun={view?.hasBegun ?? false} />
          ) : null}
        </div>
        {isReplay && view !== undefined && !(isByLink && recorded === undefined) ? (
          <Suspense fallback={null}>
            <RecordingPanel
              target={{ sandbox: view.sandbox, session: view.session }}
              moment={props.moment}
              shared={shared || undefined}
              look={{ scheme, ...defined({ theme, font: props.font }) }}
              stage={stage}
              onClose={() => {
                setReplay(false);
                focus();
              }}
            />
          </Suspense>
        ) : null}
        {bars.keys ? <KeysBar session={standIn ?? live} mayType={!isReadOnly} first={keys} onDone={focus} /> : null}
        {/* Through one portal, which keeps their order. */}
        {inPlace([isCompact ? peopleBar : null, bars.status ? statusBar : null], props.statusBar)}
      </section>
    </TextsContext>
  );
}

/** What the status bar calls the session, and its own name for the tooltip. */
function placeOf(view: View | undefined, name: string | undefined, { terminal }: Texts) {
  if (view === undefined) return { place: "", placeTitle: "" };
  const { sandbox, session } = view;
  return { place: terminal.place(sandbox, name ?? session), placeTitle: terminal.place(sandbox, session) };
}

/** Drawn there, but its events come here. @param place null: nowhere now. */
function inPlace(bar: ReactNode, place: HTMLElement | null | undefined): ReactNode {
  return place === undefined ? bar : place === null ? null : createPortal(bar, place);
}

/** A click beside a control focuses the terminal, and Escape in the terminal leaves it. A pane's owner handles both. */
function focusHandlers(
  live: TerminalSession | undefined,
  section: { readonly current: HTMLElement | null },
): Pick<ComponentProps<"section">, "onClick" | "onKeyDown" | "onFocusCapture" | "onBlurCapture"> {
  return {
    onClick: ({ nativeEvent }) => isUnfocused(nativeEvent) && live?.screen.focus(),
    onKeyDown: (event) => leaveTerminal(event, section.current, live?.screen),
    onFocusCapture: (event) => {
      if (isInTerminal(event.target)) joinTabOrder(true);
    },
    onBlurCapture: ({ currentTarget, relatedTarget }) => {
      // In another terminal's bars, the terminals stay out of the way.
      const isOurs = relatedTarget instanceof Element && relatedTarget.closest(".sbx-terminal, .sbx-page") !== null;
      if (!isOurs && !currentTarget.contains(relatedTarget)) joinTabOrder(true);
    },
  };
}

type OverlaysProps = {
  readonly live: TerminalSession;
  readonly view: View;
  /** Whose files panel is shown. */
  readonly browsed: Files | undefined;
  readonly mayType: boolean;
  /** The action of "Log in" before the login expires. */
  readonly onLogin: (() => void) | undefined;
};

/** Search, transfers, files, notices and questions over the terminal. */
function Overlays({ live, view, browsed, mayType, onLogin }: OverlaysProps) {
  const people = useSnapshot(live.room.subscribe, live.room.getState);
  const guard = useSnapshot(live.guard.subscribe, live.guard.getState);
  const server = useSnapshot(live.offer.subscribe, live.offer.getState)?.server;
  const { files } = live;
  const focus = () => live.screen.focus();
  const answer = (isYes: boolean) => {
    live.guard.answer(isYes);
    focus();
  };
  const download = (path: string) => {
    answer(false);
    files?.downloads.start(path);
  };
  const clipboard = guard?.clipboard;
  return (
    <>
      <TerminalToolsView tools={live.tools} onDone={focus} />
      {files === undefined ? null : <UploadView uploads={files.uploads} onDone={focus} />}
      {files === undefined ? null : <DownloadView downloads={files.downloads} onDone={focus} />}
      <Toasts>
        {people?.people === undefined ? null : <Asks room={live.room} people={people.people} onDone={focus} />}
        {people === undefined ? null : <Requests room={live.room} state={people} onDone={focus} />}
        {clipboard === undefined ? null : (
          <ClipboardToast
            request={clipboard}
            onAnswer={(isYes) => {
              void live.guard.answerClipboard(clipboard, isYes);
              focus();
            }}
            onAlways={() => {
              void live.guard.alwaysCopy(clipboard);
              focus();
            }}
          />
        )}
        {server === undefined || view.client.phase === "ended" ? null : (
          <ServerToast
            port={server.port}
            onOpen={() => live.openPort(server.port)}
            onDismiss={() => {
              live.offer.dismiss();
              focus();
            }}
          />
        )}
        {files === undefined ? null : <DownloadToast downloads={files.downloads} onDone={focus} />}
        {view.loginEndsAtMs === undefined ? null : <ExpiringToast endsAtMs={view.loginEndsAtMs} onLogin={onLogin} />}
        <Notices
          view={view}
          onDismiss={() => {
            live.dismissNotices();
            focus();
          }}
        />
      </Toasts>
      {browsed === undefined ? null : (
        <Suspense fallback={null}>
          <FilesPanel
            sandbox={view.sandbox}
            files={browsed}
            mayType={mayType}
            onType={(path) => {
              live.screen.terminal.paste(typedPaths([path]));
              focus();
            }}
            onClose={() => {
              browsed.togglePanel();
              focus();
            }}
          />
        </Suspense>
      )}
      {guard?.question === undefined ? null : (
        <QuestionDialog question={guard.question} onAnswer={answer} onDownload={files && download} />
      )}
    </>
  );
}

type KeysBarProps = {
  readonly session: TerminalSession | undefined;
  readonly mayType: boolean;
  readonly first: ReactNode;
  readonly onDone: () => void;
};

function KeysBar({ session, mayType, first, onDone }: KeysBarProps) {
  const view = useSnapshot(session?.subscribe, session?.getView);
  return (
    <TouchKeys
      modifiers={view?.modifiers ?? NO_MODIFIERS}
      hasSelection={view?.hasSelection ?? false}
      mayType={mayType}
      onPress={(text) => session?.screen.press(text)}
      onModifiers={(modifiers) => session?.setModifiers(modifiers)}
      onPaste={() => void session?.guard.pasteClipboard().then(onDone)}
      onCopy={() => session?.screen.copy()}
      first={first}
    />
  );
}
