// The sessions of a person's sandboxes while a person looks at the list, and their screens.

import { useCallback, useEffect, useRef, useState } from "react";
import { isFileSession } from "../connection/pipes-address.ts";
import { isPaneSession } from "../session/panes-model.ts";
import type { PaneId } from "../workspace/layout.ts";
import { paneIdOf } from "../workspace/layout.ts";
import { type ListedSession, type Look, listSandboxes, listSessions, lookAt } from "./session-list.ts";

/** The answer for each sandbox. undefined: asked, and not answered yet. */
type Listing = { readonly sessions: readonly ListedSession[] } | { readonly problem: string };

const LOOK_EVERY_MS = 2_000;
/** Calls count against the person's limit: only the newest are looked at without being chosen. */
const LOOKED_AT = 16;
/** Each is a call. */
const MAX_SANDBOXES = 64;

export type Sessions = {
  /** The known ones first. */
  readonly sandboxes: readonly string[];
  /** How many more sandboxes there are, whose sessions are not asked for. */
  readonly unasked: number;
  readonly listed: readonly ListedSession[];
  readonly isLoading: boolean;
  readonly problems: readonly (readonly [sandbox: string, why: string])[];
  readonly looks: ReadonlyMap<PaneId, Look>;
  /** Asks anew. */
  readonly refresh: () => void;
};

/**
 * @param knownHere The sandboxes that are known without asking.
 * @param chosen The one that is looked at again and again.
 * @param ended The one that is being ended: it is not looked at any more.
 * @param unreadable The words for an answer that can't be read.
 */
export function useSessions(
  knownHere: readonly string[],
  chosen: PaneId | undefined,
  ended: PaneId | undefined,
  unreadable: string,
): Sessions {
  /** undefined: not answered yet. */
  const [told, setTold] = useState<readonly string[]>();
  const [listings, setListings] = useState<ReadonlyMap<string, Listing>>(new Map());
  const [looks, setLooks] = useState<ReadonlyMap<PaneId, Look>>(new Map());
  const [asked, setAsked] = useState(0);
  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  const looked = useRef(new Set<PaneId>());
  const all = [...new Set([...knownHere, ...(told ?? [])])];
  const sandboxes = all.slice(0, MAX_SANDBOXES);
  const key = sandboxes.join(" ");

  useEffect(() => {
    const stop = new AbortController();
    void (async () => {
      const answer = await listSandboxes(stop.signal);
      // Those that are known are asked in any case, and say what is wrong.
      if (!stop.signal.aborted) setTold((before) => (answer.ok ? answer.value : (before ?? [])));
    })();
    return () => stop.abort();
  }, [asked]);

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
    .filter(({ place }) => !isPaneSession(place.session) && !isFileSession(place.session))
    .sort((a, b) => b.createdAtMs - a.createdAtMs);

  const living = listed.filter(({ place }) => paneIdOf(place) !== ended);
  const newest = living.slice(0, LOOKED_AT);
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

  const session = living.find(({ place }) => paneIdOf(place) === chosen);
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
  const isLoading = told === undefined || known.some(([, listing]) => listing === undefined);
  return { sandboxes, unasked: all.length - sandboxes.length, listed, isLoading, problems, looks, refresh };
}
