// The ticket of a share link. It comes in the URL's fragment, which no server or log sees, is removed first of all, and is kept for this
// tab over logins and reloads.

/** A share ticket in the fragment: `#s.…`, `#ticket=s.…`. */
const TICKET = /(?:^#|[#&]ticket=)(s\.[\w.~-]+)/;
const SECRETS = ["token", "ticket", "resume"];
const STORED = "sbx.ticket";

/** The used parts of the browser. */
export type AddressBar = {
  readonly location: Pick<Location, "pathname" | "search" | "hash">;
  readonly history: Pick<History, "replaceState">;
  readonly storage: Pick<Storage, "getItem" | "setItem"> | undefined;
};

/** Moves the ticket from the address bar to the tab's storage, and removes other secrets. @returns The ticket, if there was one. */
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

/** This tab's ticket for a session. @param search The page's query, which names the session. */
export function keptTicket(search: string, storage: AddressBar["storage"]): string | undefined {
  return storage?.getItem(keyOf(search)) ?? undefined;
}

function keyOf(search: string): string {
  const params = new URLSearchParams(search);
  return [STORED, params.get("sandbox") || "default", params.get("session") || ""].join("/");
}
