// Keeps preferences on the server: read when the page starts, saved a second after a change. If the server fails, this browser still has
// them.

import { isRecord } from "sandbox-stdio/core";
import { callApi } from "../connection/api.ts";
import type { PreferenceStore } from "./preferences.ts";

const PATH = "/api/preferences";
const DELAY_MS = 1_000;

/** Call once, for a logged-in person. */
export async function syncPreferences(store: PreferenceStore): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isChanged = false;
  const save = (isLast: boolean) => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    void callApi("PUT", PATH, { preferences: store.get() }, isLast ? { keepalive: true } : {});
  };
  store.onSet = () => {
    isChanged = true;
    clearTimeout(timer);
    timer = setTimeout(() => save(false), DELAY_MS);
  };
  window.addEventListener("pagehide", () => save(true));
  const answer = await callApi("GET", PATH);
  // Changes made meanwhile are newer.
  if (!answer.ok || isChanged || !isRecord(answer.value) || !isRecord(answer.value.preferences)) return;
  store.take(answer.value.preferences);
}
