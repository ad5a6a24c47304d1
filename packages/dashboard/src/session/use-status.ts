// A session's status text, refreshed every second while it changes.

import { useEffect, useReducer } from "react";
import { describe, type SessionFacts, type Status } from "../connection/status.ts";
import type { Texts } from "../texts/texts.ts";
import type { View } from "./terminal-session.ts";

/** Before the terminal is mounted. */
const NOT_YET: SessionFacts = {
  client: { phase: "connecting", attempt: 0 },
  upstream: "running",
  resumedAtMs: undefined,
  hasMissedOutput: false,
};

export function useStatus(view: View | undefined, isByLink: boolean, texts: Texts): Status {
  const [, refresh] = useReducer((count: number) => count + 1, 0);
  const status = describe(view ?? NOT_YET, performance.now(), isByLink, texts);
  const { isPassing } = status;
  useEffect(() => {
    if (!isPassing) return;
    const timer = setInterval(refresh, 1000);
    return () => clearInterval(timer);
  }, [isPassing]);
  return status;
}
