// One session of the list: its screen now, and the buttons for it.

import { type CSSProperties, useEffect, useRef, useState } from "react";
import { commandLineOf } from "./palette-model.ts";
import type { ListedSession, Look } from "./session-list.ts";
import { useTexts } from "./texts-context.ts";

export type Opening = "here" | "right" | "below";

export type SessionPreviewProps = {
  readonly listed: ListedSession;
  readonly look: Look | undefined;
  readonly mayEnd: boolean;
  readonly onOpen: (how: Opening) => void;
  readonly onCopy: () => void;
  readonly onEnd: () => void;
};

export function SessionPreview({ listed, look, mayEnd, onOpen, onCopy, onEnd }: SessionPreviewProps) {
  const { palette: words } = useTexts();
  const [isAsking, setAsking] = useState(false);
  const { session } = listed.place;
  const cols: (CSSProperties & Record<"--cols", number>) | undefined = look && { "--cols": look.cols };
  return (
    <section className="sbx-preview" aria-label={session}>
      {look === undefined ? (
        <p className="sbx-miniature-none">{words.noScreen}</p>
      ) : (
        <div className="sbx-miniature" role="img" aria-label={words.screen(session)} style={cols}>
          <pre aria-hidden="true">{look.lines.join("\n")}</pre>
        </div>
      )}
      {isAsking ? (
        <EndQuestion listed={listed} onEnd={onEnd} onKeep={() => setAsking(false)} />
      ) : (
        <div className="sbx-preview-actions">
          <button type="button" className="sbx-button sbx-primary" onClick={() => onOpen("here")}>
            {words.open}
          </button>
          <button type="button" className="sbx-button" onClick={() => onOpen("right")}>
            {words.openRight}
          </button>
          <button type="button" className="sbx-button" onClick={() => onOpen("below")}>
            {words.openBelow}
          </button>
          <button type="button" className="sbx-button" onClick={onCopy}>
            {words.copy}
          </button>
          {mayEnd && listed.state === "running" ? (
            <button type="button" className="sbx-button" onClick={() => setAsking(true)}>
              {words.end}
            </button>
          ) : null}
        </div>
      )}
    </section>
  );
}

type EndQuestionProps = { readonly listed: ListedSession; readonly onEnd: () => void; readonly onKeep: () => void };

/** A dangerous step takes a choice: Enter keeps the session. */
function EndQuestion({ listed, onEnd, onKeep }: EndQuestionProps) {
  const { palette: words } = useTexts();
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <div className="sbx-preview-actions" role="alertdialog" aria-label={words.endIt(listed.place.session)}>
      <p>{words.endWhy(commandLineOf(listed))}</p>
      <button type="button" className="sbx-button" ref={keep} onClick={onKeep}>
        {words.keepIt}
      </button>
      <button type="button" className="sbx-button sbx-dangerous" onClick={onEnd}>
        {words.endIt(listed.place.session)}
      </button>
    </div>
  );
}
