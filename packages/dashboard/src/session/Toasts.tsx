// Messages in the corner over the terminal: notices, requests for the keyboard, a program's text for the clipboard. They lie over it so
// that its size does not change, and never take the focus.

import { type ReactNode, useEffect, useReducer } from "react";
import { nameOrYours } from "sandbox-stdio/core";
import type { ParticipantsModel, ParticipantsState } from "../sharing/participants-model.ts";
import type { ClipboardRequest } from "../terminal/guard.ts";
import type { Texts } from "../texts/texts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { preview } from "../ui/clipboard.ts";
import type { Notice, View } from "./terminal-session.ts";

export function Toasts({ children }: { readonly children: ReactNode }) {
  return <div className="sbx-toasts">{children}</div>;
}

type NoticesProps = { readonly view: View; readonly onDismiss: () => void };

export function Notices({ view, onDismiss }: NoticesProps) {
  const words = useTexts().notice;
  const texts = noticeTexts(view, words);
  return (
    <div className="sbx-toast sbx-notices" aria-live="polite">
      {texts.length === 0 ? null : (
        <div>
          {texts.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      {texts.length === 0 ? null : (
        <button type="button" className="sbx-quiet" onClick={onDismiss} aria-label={words.dismiss}>
          ×
        </button>
      )}
    </div>
  );
}

function noticeTexts({ notices, missedBytes, unsentKeys }: View, words: Texts["notice"]): string[] {
  const texts = notices.map((notice) => noticeText(notice, words));
  if (missedBytes > 0) texts.push(words.missed(missedBytes));
  if (unsentKeys > 0) texts.push(words.unsent(unsentKeys));
  return texts;
}

function noticeText(notice: Notice, words: Texts["notice"]): string {
  switch (notice.kind) {
    case "error":
      return words.refused(notice.message);
    case "told":
      return notice.message;
    case "stopping":
      return words.stopping(notice.seconds);
    case "started-over":
      return words.startedOver(notice.reason);
    case "approximate":
      return words.approximate;
    case "shortened":
      return words.shortened;
  }
}

type RequestsProps = {
  readonly room: ParticipantsModel;
  readonly state: ParticipantsState;
  readonly onDone: () => void;
};

/** Requests for this person's keyboard. The participants' bar announces them. */
export function Requests({ room, state, onDone }: RequestsProps) {
  const { people: words, keyboard } = useTexts();
  const { people, requesters } = state;
  if (people === undefined) return null;
  const answer = (act: () => void) => () => {
    act();
    onDone();
  };
  return requesters.map((id) => {
    const asks = words.asksYou(nameOrYours(people, id, words, true));
    return (
      <section className="sbx-toast sbx-request" key={id} aria-label={asks}>
        <p>{asks}</p>
        <div className="sbx-answers">
          <button type="button" className="sbx-button sbx-primary" onClick={answer(() => room.give(id))}>
            {keyboard.giveIt}
          </button>
          <button type="button" className="sbx-button" onClick={answer(() => room.decline(id))}>
            {keyboard.notNow}
          </button>
        </div>
      </section>
    );
  });
}

type ExpiringToastProps = {
  readonly endsAtMs: number;
  /** undefined: this page has no login. */
  readonly onLogin: (() => void) | undefined;
};

/** The login expires soon and can't be renewed. The countdown is not announced. */
export function ExpiringToast({ endsAtMs, onLogin }: ExpiringToastProps) {
  const { notice, remedy, status } = useTexts();
  const [, refresh] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(refresh, 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((endsAtMs - performance.now()) / 1000));
  return (
    <section className="sbx-toast sbx-expiring" aria-label={notice.expiring}>
      <p>
        <span role="status">{notice.expiring}</span> <span className="sbx-seconds">{status.seconds(seconds)}</span>
      </p>
      {onLogin === undefined ? null : (
        <>
          <p>{notice.expiringAdvice}</p>
          <div className="sbx-answers">
            <button type="button" className="sbx-button sbx-primary" onClick={onLogin}>
              {remedy.login}
            </button>
          </div>
        </>
      )}
    </section>
  );
}

type ClipboardToastProps = {
  readonly request: ClipboardRequest;
  readonly onAnswer: (isYes: boolean) => void;
  readonly onAlways: () => void;
};

export function ClipboardToast({ request, onAnswer, onAlways }: ClipboardToastProps) {
  const words = useTexts().clipboard;
  return (
    // Keyed by request so that React remounts the buttons and a late click can't hit the next one.
    <section className="sbx-toast sbx-clipboard" key={request.count} aria-label={words.label}>
      <p role="status">{words.wants}</p>
      <pre>{preview(request.text)}</pre>
      <div className="sbx-answers">
        <button type="button" className="sbx-button sbx-primary" onClick={() => onAnswer(true)}>
          {words.copy(request.text.length)}
        </button>
        <button type="button" className="sbx-button" title={words.alwaysTitle} onClick={onAlways}>
          {words.always}
        </button>
        <button type="button" className="sbx-button" onClick={() => onAnswer(false)}>
          {words.ignore}
        </button>
      </div>
    </section>
  );
}

type ServerToastProps = { readonly port: number; readonly onOpen: () => void; readonly onDismiss: () => void };

export function ServerToast({ port, onOpen, onDismiss }: ServerToastProps) {
  const { notice, server: words } = useTexts();
  return (
    <section className="sbx-toast sbx-notices" aria-label={words.label(port)}>
      <p role="status">{words.label(port)}</p>
      <button type="button" className="sbx-button sbx-primary" onClick={onOpen}>
        {words.open(port)}
      </button>
      <button type="button" className="sbx-quiet" onClick={onDismiss} aria-label={notice.dismiss}>
        ×
      </button>
    </section>
  );
}
