// The colour scheme around a terminal: `system` means high contrast for a person whose system asks for it.

import { useSyncExternalStore } from "react";
import { PREFERS_CONTRAST, type Scheme } from "./theme.ts";

export function useScheme(scheme: Scheme | "system"): Scheme | "system" {
  const prefersContrast = useSyncExternalStore(onChange, () => matchMedia(PREFERS_CONTRAST).matches);
  return scheme === "system" && prefersContrast ? "contrast" : scheme;
}

/** @returns Unsubscribes. */
function onChange(listener: () => void): () => void {
  const stop = new AbortController();
  matchMedia(PREFERS_CONTRAST).addEventListener("change", listener, { signal: stop.signal });
  return () => stop.abort();
}
