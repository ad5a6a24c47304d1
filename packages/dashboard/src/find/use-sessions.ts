// The sessions of a person's sandboxes and their screens, while the list is open.

import { useCallback, useEffect, useState } from "react";
import { isFileSession } from "../connection/pipes-address.ts";
import { isPaneSession } from "../session/panes-model.ts";
import type { PaneId } from "../workspace/layout.ts";
import { paneIdOf } from "../workspace/layout.ts";
import { fetchScreen, type ListedSession, listSandboxes, listSessions, type SessionScreen } from "./session-list.ts";

/** A sandbox's listing; absent until the response. */
type Listing = { readonly sessions: readonly ListedSession[] } | { readonly problem: string };

const REFRESH_MS = 2_000;
/** Each takes a call. */
const MAX_SANDBOXES = 64;

export type Sessions = {
  /** Known ones first. */
  readonly sandboxes: readonly string[];
  /** Number of sandboxes that are not listed. */
  readonly unasked: number;
  readonly listed: readonly ListedSession[];
  readonly isLoading: boolean;
  readonly problems: readonly (readonly [sandbox: string, why: string])[];
  readonly screens: ReadonlyMap<PaneId, SessionScreen>;
  /** Reloads everything. */
  readonly refresh: () => void;
};

/**
 * @param knownHere Sandboxes known to the page. @param chosen The session whose screen is refreshed.
 * @param ended A session that is being ended: its screen is not fetched. @param unreadable Text for an invalid response.
 */
export function useSessions(
  knownHere: readonly string[],
  chosen: PaneId | undefined,
  ended: PaneId | undefined,
  unreadable: string,
): Sessions {
  /** undefined until the response. */
  const [listedSandboxes, setListedSandboxes] = useState<readonly string[]>();
  const [listings, setListings] = useState<ReadonlyMap<string, Listing>>(new Map());
  const [screens, setScreens] = useState<ReadonlyMap<PaneId, SessionScreen>>(new Map());
  const [reloads, setReloads] = useState(0);
  const refresh = useCallback(() => setReloads((count) => count + 1), []);
  const all = [...new Set([...knownHere, ...(listedSandboxes ?? [])])];
  const sandboxes = all.slice(0, MAX_SANDBOXES);
  const key = sandboxes.join(" ");

  useEffect(() => {
    const stop = new AbortController();
    void (async () => {
      const answer = await listSandboxes(stop.signal);
      // Known sandboxes are listed in any case, and report what is wrong.
      if (!stop.signal.aborted) setListedSandboxes((before) => (answer.ok ? answer.value : (before ?? [])));
    })();
    return () => stop.abort();
  }, [reloads]);

  useEffect(() => {
    const stop = new AbortController();
    const load = async (sandbox: string) => {
      const answer = await listSessions(sandbox, stop.signal);
      if (stop.signal.aborted) return;
      const listing = answer.ok ? { sessions: answer.value } : { problem: answer.reason ?? unreadable };
      setListings((before) => new Map(before).set(sandbox, listing));
    };
    for (const sandbox of key.split(" ")) void load(sandbox);
    return () => stop.abort();
  }, [key, reloads, unreadable]);

  const known = sandboxes.map((sandbox) => [sandbox, listings.get(sandbox)] as const);
  const listed = known
    .flatMap(([, listing]) => (listing !== undefined && "sessions" in listing ? listing.sessions : []))
    .filter(({ target }) => !isPaneSession(target.session) && !isFileSession(target.session))
    .sort((a, b) => b.createdAtMs - a.createdAtMs);

  const session = chosen === ended ? undefined : listed.find(({ target }) => paneIdOf(target) === chosen);
  useEffect(() => {
    if (session === undefined) return;
    const stop = new AbortController();
    const refreshScreen = async () => {
      const screen = await fetchScreen(session, stop.signal);
      if (stop.signal.aborted) return;
      if (screen !== undefined) setScreens((before) => new Map(before).set(paneIdOf(session.target), screen));
    };
    void refreshScreen();
    const timer = setInterval(() => void refreshScreen(), REFRESH_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [chosen, session === undefined]);

  const problems = known.flatMap(([sandbox, listing]) =>
    listing !== undefined && "problem" in listing ? [[sandbox, listing.problem] as const] : [],
  );
  const isLoading = listedSandboxes === undefined || known.some(([, listing]) => listing === undefined);
  return { sandboxes, unasked: all.length - sandboxes.length, listed, isLoading, problems, screens, refresh };
}
