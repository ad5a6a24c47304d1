// A hint of keys in the empty part of a browser's first shell, until somebody types.

import { useEffect, useState } from "react";
import type { TerminalSession } from "../session/terminal-session.ts";
import { useSnapshot } from "../session/use-session.ts";
import { localStorageIfAllowed } from "../settings/preferences.ts";
import { useTexts } from "../texts/texts-context.ts";
import { keysOfCommand } from "../workspace/layout-keys.ts";

const TYPED = "sbx.typed";
/** The keys of the list, in this browser. */
export const LIST_KEYS = keysOfCommand({ do: "palette" }, {});

export function FirstSteps({ live }: { readonly live: TerminalSession | undefined }) {
  const words = useTexts().page;
  const view = useSnapshot(live?.subscribe, live?.getView);
  const hasTyped = view?.hasTyped === true;
  const [isFirst] = useState(() => localStorageIfAllowed()?.getItem(TYPED) === null);
  useEffect(() => {
    if (isFirst && hasTyped) localStorageIfAllowed()?.setItem(TYPED, "1");
  }, [isFirst, hasTyped]);
  // The session of somebody else, or of earlier, is not empty.
  const isNew = view?.client.phase === "attached" && view.client.hello.creator === true;
  return isFirst && isNew && !hasTyped ? <p className="sbx-first-steps">{words.firstSteps(LIST_KEYS)}</p> : null;
}
