// Keeps preferences on the server: read when the page starts, saved at a change, at most once a second. If the server fails, this browser
// still has them.

import { isRecord } from "sandbox-stdio/core";
import { callApi } from "../connection/api.ts";
import type { PreferenceStore } from "./preferences.ts";

const PATH = "/api/preferences";
const PAUSE_MS = 1_000;

/** Call once, for a logged-in person. */
export async function syncPreferences(store: PreferenceStore): Promise<void> {
  let pause: ReturnType<typeof setTimeout> | undefined;
  let isChanged = false;
  let isUnsaved = false;
  const save = () => {
    if (!isUnsaved) return;
    isUnsaved = false;
    // It outlives the page. A browser that is busy, or dies, does not tell a page first that it closes.
    void callApi("PUT", PATH, { preferences: store.get() }, { keepalive: true });
    pause = setTimeout(() => {
      pause = undefined;
      save();
    }, PAUSE_MS);
  };
  store.onSet = () => {
    isChanged = true;
    isUnsaved = true;
    if (pause === undefined) save();
  };
  window.addEventListener("pagehide", save);
  const answer = await callApi("GET", PATH);
  // Changes made meanwhile are newer.
  if (!answer.ok || isChanged || !isRecord(answer.value) || !isRecord(answer.value.preferences)) return;
  store.take(answer.value.preferences);
}
