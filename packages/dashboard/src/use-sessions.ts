// The sessions of some sandboxes while a person looks at the list, and their screens.

import { useCallback, useEffect, useRef, useState } from "react";
import type { PaneId } from "./layout.ts";
import { paneIdOf } from "./layout.ts";
import { type ListedSession, type Look, listSessions, lookAt } from "./session-list.ts";

/** The answer for each sandbox. undefined: asked, and not answered yet. */
type Listing = { readonly sessions: readonly ListedSession[] } | { readonly problem: string };

const LOOK_EVERY_MS = 2_000;
/** Calls count against the person's limit: only the newest are looked at without being chosen. */
const LOOKED_AT = 16;

export type Sessions = {
  readonly listed: readonly ListedSession[];
  readonly isLoading: boolean;
  readonly problems: readonly (readonly [sandbox: string, why: string])[];
  readonly looks: ReadonlyMap<PaneId, Look>;
  /** Asks anew. */
  readonly refresh: () => void;
};

/** @param chosen The one that is looked at again and again. @param unreadable The words for an answer that can't be read. */
export function useSessions(sandboxes: readonly string[], chosen: PaneId | undefined, unreadable: string): Sessions {
  const [listings, setListings] = useState<ReadonlyMap<string, Listing>>(new Map());
  const [looks, setLooks] = useState<ReadonlyMap<PaneId, Look>>(new Map());
  const [asked, setAsked] = useState(0);
  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  const looked = useRef(new Set<PaneId>());
  const key = sandboxes.join(" ");

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
  }, [key, asked, unreadable]);

  const known = sandboxes.map((sandbox) => [sandbox, listings.get(sandbox)] as const);
  const listed = known
    .flatMap(([, listing]) => (listing !== undefined && "sessions" in listing ? listing.sessions : []))
    .sort((a, b) => b.createdAtMs - a.createdAtMs);

  const newest = listed.slice(0, LOOKED_AT);
  const newestKey = newest.map(({ place }) => paneIdOf(place)).join(" ");
  useEffect(() => {
    const stop = new AbortController();
    void (async () => {
      for (const session of newest) {
        const id = paneIdOf(session.place);
        if (looked.current.has(id)) continue;
        const look = await lookAt(session, stop.signal);
        if (stop.signal.aborted) return;
        looked.current.add(id);
        if (look !== undefined) setLooks((before) => new Map(before).set(id, look));
      }
    })();
    return () => stop.abort();
  }, [newestKey]);

  const session = listed.find(({ place }) => paneIdOf(place) === chosen);
  useEffect(() => {
    if (session === undefined) return;
    const stop = new AbortController();
    const again = async () => {
      const look = await lookAt(session, stop.signal);
      if (stop.signal.aborted) return;
      if (look !== undefined) setLooks((before) => new Map(before).set(paneIdOf(session.place), look));
    };
    void again();
    const timer = setInterval(() => void again(), LOOK_EVERY_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [chosen, session === undefined]);

  const problems = known.flatMap(([sandbox, listing]) =>
    listing !== undefined && "problem" in listing ? [[sandbox, listing.problem] as const] : [],
  );
  return { listed, isLoading: known.some(([, listing]) => listing === undefined), problems, looks, refresh };
}
