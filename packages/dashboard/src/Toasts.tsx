// What comes up in the corner over the terminal and waits for no answer: notices, requests for the keyboard, what a program
// wants on the clipboard. Over it, so that its size does not change. None of them takes the focus.

import type { ReactNode } from "react";
import { nameOf } from "sandbox-stdio/core";
import { preview } from "./clipboard.ts";
import type { ClipboardWish } from "./guard.ts";
import type { ParticipantsModel, ParticipantsState } from "./participants-model.ts";

export function Toasts({ children }: { readonly children: ReactNode }) {
  return <div className="sbx-toasts">{children}</div>;
}

type NoticesProps = { readonly texts: readonly string[]; readonly onDismiss: () => void };

export function Notices({ texts, onDismiss }: NoticesProps) {
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
        <button type="button" className="sbx-quiet" onClick={onDismiss} aria-label="Dismiss">
          ×
        </button>
      )}
    </div>
  );
}

type RequestsProps = {
  readonly room: ParticipantsModel;
  readonly state: ParticipantsState;
  readonly onDone: () => void;
};

/** Who asks this person for the keyboard. Said aloud by the people bar. */
export function Requests({ room, state, onDone }: RequestsProps) {
  const { people, askers } = state;
  if (people === undefined) return null;
  const answer = (act: () => void) => () => {
    act();
    onDone();
  };
  return askers.map((id) => {
    const name = nameOf(people, id);
    return (
      <section className="sbx-toast sbx-request" key={id} aria-label={`${name} asks for the keyboard`}>
        <p>{name} asks for the keyboard</p>
        <div className="sbx-answers">
          <button type="button" className="sbx-button sbx-primary" onClick={answer(() => room.give(id))}>
            Give it
          </button>
          <button type="button" className="sbx-button" onClick={answer(() => room.decline(id))}>
            Not now
          </button>
        </div>
      </section>
    );
  });
}

type ClipboardToastProps = { readonly wish: ClipboardWish; readonly onAnswer: (isYes: boolean) => void };

export function ClipboardToast({ wish, onAnswer }: ClipboardToastProps) {
  return (
    // Another wish is another element: a click that was meant for one can't fall on the next.
    <section className="sbx-toast sbx-clipboard" key={wish.count} aria-label="Clipboard">
      <p role="status">The program wants to put this on your clipboard:</p>
      <pre>{preview(wish.text)}</pre>
      <div className="sbx-answers">
        <button type="button" className="sbx-button sbx-primary" onClick={() => onAnswer(true)}>
          Copy {wish.text.length === 1 ? "1 character" : `${wish.text.length} characters`}
        </button>
        <button type="button" className="sbx-button" onClick={() => onAnswer(false)}>
          Ignore
        </button>
      </div>
    </section>
  );
}
