// Asks before a session is ended from a menu.

import { useEffect, useRef, useState } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { endSession } from "./session-list.ts";

type EndDialogProps = { readonly target: SessionTarget; readonly name: string; readonly onClose: () => void };

/** The focus is on the safe answer. The pane stays, and says how its process ended. */
export function EndDialog({ target, name, onClose }: EndDialogProps) {
  const { palette: words, connection } = useTexts();
  const [problem, setProblem] = useState("");
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  const end = async () => {
    const answer = await endSession(target);
    if (answer.ok) onClose();
    else setProblem(answer.reason ?? connection.unreadable);
  };
  return (
    <Dialog title={words.endAsk(name)} onClose={onClose}>
      <p>{words.endAll}</p>
      <p className="sbx-problem" role="status">
        {problem}
      </p>
      <div className="sbx-answers">
        <button type="button" className="sbx-button" ref={keep} onClick={onClose}>
          {words.keepIt}
        </button>
        <button type="button" className="sbx-button sbx-dangerous" onClick={() => void end()}>
          {words.endIt(name)}
        </button>
      </div>
    </Dialog>
  );
}
