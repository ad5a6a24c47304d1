// Questions before a risky step: following a link, pasting lines that would run.

import type { ReactNode } from "react";
import type { Question } from "../terminal/guard.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";

export type QuestionDialogProps = {
  readonly question: Question;
  readonly onAnswer: (isYes: boolean) => void;
  /** Downloads the path's file; undefined if this person may not. */
  readonly onDownload?: ((path: string) => void) | undefined;
};

const SHOWN_LENGTH = 2000;

export function QuestionDialog({ question, onAnswer, onDownload }: QuestionDialogProps) {
  const words = useTexts().question;
  const cancel = () => onAnswer(false);
  switch (question.kind) {
    case "link":
      return (
        <Dialog title={words.open(question.target.to)} onClose={cancel}>
          <p>{words.leadsTo}</p>
          <pre>{clip(question.target.href)}</pre>
          <Answers yes={words.openIt} onAnswer={onAnswer} />
        </Dialog>
      );
    case "bad-link":
      return (
        <Dialog title={words.notOpened} onClose={cancel}>
          <p>{words.notOpenedWhy}</p>
          <pre>{clip(question.uri)}</pre>
          <Close onClose={cancel} />
        </Dialog>
      );
    case "path":
      return (
        <Dialog title={words.path} onClose={cancel}>
          <pre>{clip(question.whole)}</pre>
          <Answers yes={words.copyPath} onAnswer={onAnswer}>
            {onDownload === undefined ? null : (
              <button type="button" className="sbx-button" onClick={() => onDownload(question.path)}>
                {words.downloadPath}
              </button>
            )}
          </Answers>
        </Dialog>
      );
    case "local":
      return (
        <Dialog title={words.local(question.local.port)} onClose={cancel}>
          <p>{question.preview === undefined ? words.noPreview : words.preview}</p>
          <pre>{clip(question.preview ?? words.forward(location.origin, question.sandbox, question.local.port))}</pre>
          {question.preview === undefined ? (
            <Close onClose={cancel} />
          ) : (
            <Answers yes={words.openIt} onAnswer={onAnswer} />
          )}
        </Dialog>
      );
    case "paste":
      return (
        <Dialog title={words.paste(question.lines)} onClose={cancel}>
          <p>{words.pasteWhy}</p>
          <pre>{clip(question.text)}</pre>
          <Answers yes={words.pasteIt(question.lines)} onAnswer={onAnswer} />
        </Dialog>
      );
  }
}

type AnswersProps = {
  readonly yes: string;
  readonly onAnswer: (isYes: boolean) => void;
  /** Another answer. */
  readonly children?: ReactNode;
};

/** The focus is on the safe answer: Enter cancels, as Escape does. */
function Answers({ yes, onAnswer, children }: AnswersProps) {
  const words = useTexts().question;
  return (
    <div className="sbx-answers">
      {/* The first button of a dialog has the focus. */}
      <button type="button" className="sbx-button" onClick={() => onAnswer(false)}>
        {words.cancel}
      </button>
      {children}
      <button type="button" className="sbx-button sbx-primary" onClick={() => onAnswer(true)}>
        {yes}
      </button>
    </div>
  );
}

function Close({ onClose }: { readonly onClose: () => void }) {
  return (
    <div className="sbx-answers">
      <button type="button" className="sbx-button" onClick={onClose}>
        {useTexts().question.close}
      </button>
    </div>
  );
}

function clip(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}
