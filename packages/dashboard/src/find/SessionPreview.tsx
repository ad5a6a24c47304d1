// One session of the list: its screen and the actions on it.

import { type CSSProperties, useEffect, useRef, useState } from "react";
import { useTexts } from "../texts/texts-context.ts";
import { NameField } from "../workspace/NameField.tsx";
import { commandLineOf } from "./palette-model.ts";
import { type ListedSession, miniatureCols, type SessionScreen } from "./session-list.ts";

export type Opening = "here" | "right" | "below";

export type SessionPreviewProps = {
  readonly listed: ListedSession;
  readonly screen: SessionScreen | undefined;
  readonly mayEnd: boolean;
  readonly onOpen: (how: Opening) => void;
  readonly onCopy: () => void;
  readonly onEnd: () => void;
  /** The person's own name for it. */
  readonly name: string | undefined;
  /** undefined: unchanged. */
  readonly onRename: (name: string | undefined) => void;
};

export function SessionPreview(props: SessionPreviewProps) {
  const { listed, screen, mayEnd, onOpen, onCopy, onEnd, name, onRename } = props;
  const { palette: words } = useTexts();
  const [isAsking, setAsking] = useState(false);
  /** Whether to focus the button after a cancelled question. */
  const [isKept, setKept] = useState(false);
  const [isNaming, setNaming] = useState(false);
  const { session } = listed.target;
  const cols: (CSSProperties & Record<"--cols", number>) | undefined = screen && { "--cols": miniatureCols(screen) };
  return (
    <section className="sbx-preview" aria-label={session}>
      {screen === undefined ? (
        <p className="sbx-miniature-none">{words.noScreen}</p>
      ) : (
        <div className="sbx-miniature" role="img" aria-label={words.screen(session)} style={cols}>
          <pre aria-hidden="true">{screen.lines.join("\n")}</pre>
        </div>
      )}
      {isNaming ? (
        <NameField
          label={words.nameOf(session)}
          title={name ?? ""}
          placeholder={session}
          onName={(text) => {
            setNaming(false);
            onRename(text);
          }}
        />
      ) : isAsking ? (
        <EndQuestion
          listed={listed}
          onEnd={onEnd}
          onKeep={() => {
            setAsking(false);
            setKept(true);
          }}
        />
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
          <button type="button" className="sbx-button" onClick={() => setNaming(true)}>
            {words.rename}
          </button>
          {mayEnd && listed.state === "running" ? (
            <button
              type="button"
              className="sbx-button"
              // biome-ignore lint/a11y/noAutofocus: the button that was pressed before is gone.
              autoFocus={isKept}
              onClick={() => setAsking(true)}
            >
              {words.end}
            </button>
          ) : null}
        </div>
      )}
    </section>
  );
}

type EndQuestionProps = { readonly listed: ListedSession; readonly onEnd: () => void; readonly onKeep: () => void };

/** The focus is on the safe answer. */
function EndQuestion({ listed, onEnd, onKeep }: EndQuestionProps) {
  const { palette: words } = useTexts();
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <div className="sbx-preview-actions" role="alertdialog" aria-label={words.endIt(listed.target.session)}>
      <p>{words.endWhy(commandLineOf(listed))}</p>
      <button type="button" className="sbx-button" ref={keep} onClick={onKeep}>
        {words.keepIt}
      </button>
      <button type="button" className="sbx-button sbx-dangerous" onClick={onEnd}>
        {words.endIt(listed.target.session)}
      </button>
    </div>
  );
}
