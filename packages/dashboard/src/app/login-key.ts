// The one-time key of a link that `sbx-stdio serve` printed. Like a ticket it comes in the fragment, and leaves it first of all.

import { textOf } from "../connection/api.ts";

const KEY = /^#key=([\w-]{43})$/;

export const hasKey = (location: Pick<Location, "hash">): boolean => KEY.test(location.hash);

/** Removes the key from the address bar. @returns It, if there was one. */
export function takeKey(location: Location, history: Pick<History, "replaceState">): string | undefined {
  const key = KEY.exec(location.hash)?.[1];
  if (key !== undefined) history.replaceState(null, "", location.pathname + location.search);
  return key;
}

/** Exchanges it for a cookie with which the next login asks nothing. @returns What was wrong, for a person. */
export async function exchangeKey(key: string): Promise<string | undefined> {
  try {
    const response = await fetch("/key", { method: "POST", body: new URLSearchParams({ key }) });
    if (response.ok) return undefined;
    const answer: unknown = await response.json().catch(() => undefined);
    return textOf(answer, "message") ?? `HTTP ${response.status}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
