// The ticket in a link that shares a session. It stands in the address's fragment, which no server and no log sees, and is
// taken out of it before anything else happens; it is kept for this tab, over the login and reloads.

/** A ticket to share, wherever it stands in the fragment: `#s.…`, `#ticket=s.…`. */
const TICKET = /(?:^#|[#&]ticket=)(s\.[\w.~-]+)/;
const SECRETS = ["token", "ticket", "resume"];
const STORED = "sbx.ticket";

/** The parts of the browser that are needed. */
export type AddressBar = {
  readonly location: Pick<Location, "pathname" | "search" | "hash">;
  readonly history: Pick<History, "replaceState">;
  readonly storage: Pick<Storage, "getItem" | "setItem"> | undefined;
};

/**
 * Takes the ticket out of the address bar and keeps it, and takes out all else that other people must not see.
 * @returns The ticket, if there was one.
 */
export function takeTicket({ location, history, storage }: AddressBar): string | undefined {
  const ticket = TICKET.exec(location.hash)?.[1];
  const params = new URLSearchParams(location.search);
  const secrets = SECRETS.filter((name) => params.has(name));
  for (const name of secrets) params.delete(name);
  if (ticket === undefined && secrets.length === 0) return undefined;
  const search = params.size === 0 ? "" : `?${params}`;
  history.replaceState(null, "", location.pathname + search + (ticket === undefined ? location.hash : ""));
  if (ticket !== undefined) storage?.setItem(keyOf(search), ticket);
  return ticket;
}

/** The ticket that this tab was led here with. @param search The page's query, which names the session. */
export function keptTicket(search: string, storage: AddressBar["storage"]): string | undefined {
  return storage?.getItem(keyOf(search)) ?? undefined;
}

function keyOf(search: string): string {
  const params = new URLSearchParams(search);
  return [STORED, params.get("sandbox") || "default", params.get("session") || ""].join("/");
}
