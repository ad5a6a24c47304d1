// A share link as created by the page and `sbx-stdio share`: the session in its query, the ticket in its fragment. Pure.

import { isName, type Role } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";

export type ShareLink = {
  /** The server's address alone. */
  readonly address: string;
  readonly sandbox: string;
  readonly session: string;
  readonly role: Role | undefined;
  readonly ticket: string;
};

const TICKET = /^#(?:ticket=)?(s\.[\w.~-]+)$/;

/** @returns undefined if the address is no share link. @throws {CliError} If the link is incomplete. */
export function readShareLink(text: string): ShareLink | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const ticket = TICKET.exec(url?.hash ?? "")?.[1];
  if (url === undefined || ticket === undefined) return undefined;
  const sandbox = url.searchParams.get("sandbox") || "default";
  const session = url.searchParams.get("session") ?? "";
  if (!isName(sandbox) || !isName(session)) {
    throw usage("the share link is incomplete; copy all of it");
  }
  const asked = url.searchParams.get("role");
  url.search = "";
  url.hash = "";
  const role = asked === "viewer" || asked === "driver" ? asked : undefined;
  return { address: url.href, sandbox, session, role, ticket };
}
