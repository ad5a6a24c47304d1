// Where a session is, and at which address its routes are. Pure.

/** A session, as its owner names it. */
export type Place = { readonly sandbox: string; readonly session: string };

/** The path of a session's routes. */
export function pathOf({ sandbox, session }: Place): string {
  return `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
}
