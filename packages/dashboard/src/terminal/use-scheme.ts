// The colour scheme around a terminal: `system` means high contrast for a person whose system asks for it.

import type { ITheme } from "@xterm/xterm";
import { useSyncExternalStore } from "react";
import { PREFERS_CONTRAST, type Scheme, schemeUnder } from "./theme.ts";

const PREFERS_DARK = "(prefers-color-scheme: dark)";

/** @param theme Of the terminal, whose brightness the colours around it share. */
export function useScheme(scheme: Scheme | "system", theme?: ITheme): Scheme | "system" {
  const prefersContrast = useSyncExternalStore(onChange, () => matchMedia(PREFERS_CONTRAST).matches);
  const prefersDark = useSyncExternalStore(onChange, () => matchMedia(PREFERS_DARK).matches);
  const wanted = scheme === "system" && prefersContrast ? "contrast" : scheme;
  const seen = wanted === "system" ? (prefersDark ? "dark" : "light") : wanted;
  const under = schemeUnder(theme, seen);
  return under === seen ? wanted : under;
}

/** @returns Unsubscribes. */
function onChange(listener: () => void): () => void {
  const stop = new AbortController();
  for (const query of [PREFERS_CONTRAST, PREFERS_DARK]) {
    matchMedia(query).addEventListener("change", listener, { signal: stop.signal });
  }
  return () => stop.abort();
}
