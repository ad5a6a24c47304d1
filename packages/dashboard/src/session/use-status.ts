// The words for a session's state, looked at again every second while they pass.

import { useEffect, useReducer } from "react";
import { describe, type SessionFacts, type Status } from "../connection/status.ts";
import type { Texts } from "../texts/texts.ts";
import type { View } from "./terminal-session.ts";

/** Before the terminal is on the page. */
const NOT_YET: SessionFacts = {
  client: { phase: "connecting", attempt: 0 },
  upstream: "running",
  resumedAtMs: undefined,
  hasMissedOutput: false,
};

/** The words for now; looks again every second while they pass. */
export function useStatus(view: View | undefined, isByLink: boolean, texts: Texts): Status {
  const [, look] = useReducer((count: number) => count + 1, 0);
  const status = describe(view ?? NOT_YET, performance.now(), isByLink, texts);
  const { isPassing } = status;
  useEffect(() => {
    if (!isPassing) return;
    const timer = setInterval(look, 1000);
    return () => clearInterval(timer);
  }, [isPassing]);
  return status;
}
