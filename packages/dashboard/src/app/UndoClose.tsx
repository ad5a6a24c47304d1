// What was just closed can be opened again, for some seconds.

import { useEffect, useState } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { useTexts } from "../texts/texts-context.ts";
import type { Closed } from "../workspace/workspace.ts";

const SHOWN_MS = 8_000;

export type UndoCloseProps = {
  readonly closed: readonly Closed[];
  readonly titleOf: (target: SessionTarget) => string;
  readonly onUndo: () => void;
};

export function UndoClose({ closed, titleOf, onUndo }: UndoCloseProps) {
  const words = useTexts().desk;
  const last = closed.at(-1);
  const [gone, setGone] = useState(last);
  useEffect(() => {
    if (last === undefined) return;
    const timer = setTimeout(() => setGone(last), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [last]);
  const isShown = last !== undefined && last !== gone;
  return (
    <span className="sbx-undo" role="status">
      {isShown ? (
        <>
          <span>{words.closed(last.targets.map(titleOf))}</span>
          <button type="button" className="sbx-button" onClick={onUndo}>
            {words.undo}
          </button>
        </>
      ) : null}
    </span>
  );
}
