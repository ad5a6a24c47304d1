// What is asked before something happens that can't be taken back: following a link, pasting lines that would be run.

import { Dialog } from "./Dialog.tsx";
import type { Question } from "./guard.ts";

export type QuestionDialogProps = { readonly question: Question; readonly onAnswer: (isYes: boolean) => void };

const SHOWN_LENGTH = 2000;

export function QuestionDialog({ question, onAnswer }: QuestionDialogProps) {
  const cancel = () => onAnswer(false);
  switch (question.kind) {
    case "link":
      return (
        <Dialog title={`Open ${question.target.to}?`} onClose={cancel}>
          <p>The link leads to this address, whatever its text says:</p>
          <pre>{clip(question.target.href)}</pre>
          <Answers yes="Open" onAnswer={onAnswer} />
        </Dialog>
      );
    case "bad-link":
      return (
        <Dialog title="This link is not opened" onClose={cancel}>
          <p>Only http, https and mailto addresses are. It leads to:</p>
          <pre>{clip(question.uri)}</pre>
          <div className="sbx-answers">
            <button type="button" className="sbx-button" onClick={cancel}>
              Close
            </button>
          </div>
        </Dialog>
      );
    case "paste": {
      const lines = question.lines === 1 ? "1 line" : `${question.lines} lines`;
      return (
        <Dialog title={`Paste ${lines}?`} onClose={cancel}>
          <p>
            The program has not asked to be told of pastes: it takes each line as if you had typed it and pressed Enter.
          </p>
          <pre>{clip(question.text)}</pre>
          <Answers yes={`Paste ${lines}`} onAnswer={onAnswer} />
        </Dialog>
      );
    }
  }
}

type AnswersProps = { readonly yes: string; readonly onAnswer: (isYes: boolean) => void };

/** Enter cancels, as Escape does: what is dangerous takes a choice. */
function Answers({ yes, onAnswer }: AnswersProps) {
  return (
    <div className="sbx-answers">
      {/* The first button of a dialog has the focus. */}
      <button type="button" className="sbx-button" onClick={() => onAnswer(false)}>
        Cancel
      </button>
      <button type="button" className="sbx-button sbx-primary" onClick={() => onAnswer(true)}>
        {yes}
      </button>
    </div>
  );
}

function clip(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}…`;
}
