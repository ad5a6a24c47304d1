// A session by sandbox and name, and the path of its API. Pure.

export type SessionTarget = { readonly sandbox: string; readonly session: string };

/** Path of a session's routes. */
export function pathOf({ sandbox, session }: SessionTarget): string {
  return `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
}
