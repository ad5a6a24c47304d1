// The server's place for a person's settings: read when the page begins, kept a second after a change. A server that can't be asked
// changes nothing: this browser has them too.

import { isRecord } from "sandbox-stdio/core";
import { ask } from "../connection/answers.ts";
import type { PreferenceStore } from "./preferences.ts";

const PATH = "/api/preferences";
const DELAY_MS = 1_000;

/** To be called once, for who is logged in. */
export async function keepPreferences(store: PreferenceStore): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isChanged = false;
  const keep = (isLast: boolean) => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    void ask("PUT", PATH, { preferences: store.get() }, isLast ? { keepalive: true } : {});
  };
  store.onSet = () => {
    isChanged = true;
    clearTimeout(timer);
    timer = setTimeout(() => keep(false), DELAY_MS);
  };
  window.addEventListener("pagehide", () => keep(true));
  const answer = await ask("GET", PATH);
  // What was chosen meanwhile is newer.
  if (!answer.ok || isChanged || !isRecord(answer.value) || !isRecord(answer.value.preferences)) return;
  store.take(answer.value.preferences);
}
