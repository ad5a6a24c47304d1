// The words of the commands that share a session: share, tickets, revoke.

import { type Command, InvalidArgumentError, Option } from "commander";
import { MAX_CLIENTS, type Role } from "sandbox-stdio/core";
import { readEndpoint } from "./endpoint.ts";
import { MAX_SHARE_SECONDS, type ShareCommand } from "./sharing.ts";

type ShareFlags = { role: Role; seconds?: number; guests?: boolean; maxClients?: number; json?: boolean };
type PlaceFlags = { sandbox: string; session: string; token?: string };

/** @param readName Reads the name of a sandbox or session. */
export function addSharing(
  program: Command,
  readName: (value: string) => string,
  done: (command: ShareCommand) => void,
): void {
  const aboutSession = (name: string, what: string) =>
    program
      .command(name)
      .description(what)
      .option("--sandbox <id>", "the sandbox", readName, "default")
      .requiredOption("--session <name>", "the session", readName)
      .option("--token <token>", "access token (default: SBX_TOKEN, DO_TOKEN, or the stored login)");
  const place = (url: string, { sandbox, session, token }: PlaceFlags) => ({
    endpoint: readEndpoint(url),
    sandbox,
    session,
    token,
  });
  aboutSession("share <url>", "make a link by which others come to a session")
    .addOption(new Option("--role <role>", "what they may do there").choices(["viewer", "driver"]).default("viewer"))
    .option("--seconds <n>", "how long the link is good (default: a day)", readSeconds)
    .option("--guests", "for people who are not logged in, too")
    .option("--max-clients <n>", "how many may be there by it at a time (default: 16)", readClients)
    .option("--json", "as the server says it")
    .action((url: string, flags: PlaceFlags & ShareFlags) => {
      const { role, seconds, guests = false, maxClients, json = false } = flags;
      done({ kind: "share", ...place(url, flags), role, seconds, guests, maxClients, isJson: json });
    });
  aboutSession("tickets <url>", "list the links to a session that are good now")
    .option("--json", "as the server says it")
    .action((url: string, flags: PlaceFlags & { json?: boolean }) => {
      done({ kind: "tickets", ...place(url, flags), isJson: flags.json === true });
    });
  aboutSession("revoke <url> <id>", "take a link back: whoever came by it is put out").action(
    (url: string, id: string, flags: PlaceFlags) => done({ kind: "revoke", ...place(url, flags), id }),
  );
}

function readSeconds(value: string): number {
  const seconds = /^\d{1,8}$/.test(value) ? Number(value) : 0;
  if (seconds >= 1 && seconds <= MAX_SHARE_SECONDS) return seconds;
  throw new InvalidArgumentError(`It must be a whole number of seconds from 1 to ${MAX_SHARE_SECONDS}`);
}

function readClients(value: string): number {
  const clients = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (clients >= 1 && clients <= MAX_CLIENTS) return clients;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_CLIENTS}`);
}
