// A hint of keys in the empty part of a browser's first shell, until somebody types.

import { useEffect, useState } from "react";
import { listOfKeys, type OwnKeys, useOwnKeys } from "../keys/own-keys.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { useSnapshot } from "../session/use-session.ts";
import { localStorageIfAllowed } from "../settings/preferences.ts";
import type { Texts } from "../texts/texts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";

const TYPED = "sbx.typed";
const NAMED = [
  { do: "palette" },
  { do: "divide", direction: "right" },
  { do: "keys" },
] as const satisfies WorkspaceCommand[];

/** With this person's own keys. */
export function firstSteps({ firstSteps: words, firstKeys }: Texts["page"], own: OwnKeys): string {
  const keysOf = (command: WorkspaceCommand) => listOfKeys(keysOfCommand(command, own))[0];
  return words(
    NAMED.flatMap((command) => {
      const keys = keysOf(command);
      return keys === undefined ? [] : [firstKeys[command.do](keys)];
    }),
  );
}

type FirstStepsProps = { readonly live: TerminalSession | undefined };

export function FirstSteps({ live }: FirstStepsProps) {
  const words = useTexts().page;
  const own = useOwnKeys();
  const view = useSnapshot(live?.subscribe, live?.getView);
  const hasTyped = view?.hasTyped === true;
  const [isFirst] = useState(() => localStorageIfAllowed()?.getItem(TYPED) === null);
  useEffect(() => {
    if (isFirst && hasTyped) localStorageIfAllowed()?.setItem(TYPED, "1");
  }, [isFirst, hasTyped]);
  // The session of somebody else, or of earlier, is not empty.
  const isNew = view?.client.phase === "attached" && view.client.hello.creator === true;
  return isFirst && isNew && !hasTyped ? <p className="sbx-first-steps">{firstSteps(words, own)}</p> : null;
}
