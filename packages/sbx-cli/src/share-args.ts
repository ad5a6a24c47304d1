// The words of the commands that share a session: share, tickets, revoke.

import { type Command, InvalidArgumentError, Option } from "commander";
import { MAX_CLIENTS, type Role } from "sandbox-stdio/core";
import { addSessionPlace, isAddress, type PlaceFlags, sessionPlaceOf } from "./args/place.ts";
import type { Defaults } from "./cli-command.ts";
import { usage } from "./outcome.ts";
import { MAX_SHARE_SECONDS, type ShareCommand } from "./sharing.ts";

type ShareFlags = { role: Role; seconds?: number; guests?: boolean; maxClients?: number; json?: boolean };

export function addSharing(program: Command, defaults: Defaults, done: (command: ShareCommand) => void): void {
  const aboutSession = (name: string, what: string) => addSessionPlace(program.command(name)).description(what);
  aboutSession("share [url]", "make a link by which others come to a session")
    .addOption(new Option("--role <role>", "what they may do there").choices(["viewer", "driver"]).default("viewer"))
    .option("--seconds <n>", "how long the link is good (default: a day)", readSeconds)
    .option("--guests", "for people who are not logged in, too")
    .option("--max-clients <n>", "how many may be there by it at a time (default: 16)", readClients)
    .option("--json", "as the server says it")
    .action((url: string | undefined, flags: PlaceFlags & ShareFlags) => {
      const { role, seconds, guests = false, maxClients, json = false } = flags;
      const place = sessionPlaceOf(url, flags, defaults);
      done({ kind: "share", ...place, role, seconds, guests, maxClients, isJson: json });
    });
  aboutSession("tickets [url]", "list the links to a session that are good now")
    .option("--json", "as the server says it")
    .action((url: string | undefined, flags: PlaceFlags & { json?: boolean }) => {
      done({ kind: "tickets", ...sessionPlaceOf(url, flags, defaults), isJson: flags.json === true });
    });
  aboutSession("revoke <words...>", "take a link back: everyone who came by it is disconnected")
    .usage("[URL] [options] ID")
    .action((given: readonly string[], flags: PlaceFlags) => {
      const [url, ids] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [id, ...more] = ids;
      if (id === undefined || more.length > 0) throw usage("revoke takes the ID of one link: see sbx-stdio tickets");
      done({ kind: "revoke", ...sessionPlaceOf(url, flags, defaults), id });
    });
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
