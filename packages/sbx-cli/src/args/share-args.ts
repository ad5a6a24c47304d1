// The commands that share a session: share, tickets, revoke.

import { type Command, Option } from "commander";
import { MAX_CLIENTS, type Role } from "sandbox-stdio/core";
import { usage } from "../base/outcome.ts";
import type { Defaults, ShareCommand } from "./cli-command.ts";
import { readWhole } from "./readers.ts";
import { addSessionTarget, isAddress, sessionTargetOf, type TargetFlags } from "./target.ts";

/** The server's limit: 30 days. */
export const MAX_SHARE_SECONDS = 30 * 24 * 3600;

type ShareFlags = { role: Role; seconds?: number; guests?: boolean; maxClients?: number; json?: boolean };

export function addSharing(program: Command, defaults: Defaults, done: (command: ShareCommand) => void): void {
  const aboutSession = (name: string, what: string) => addSessionTarget(program.command(name)).description(what);
  aboutSession("share [url]", "create a link that shares a session")
    .addOption(
      new Option("--role <role>", "role of people who open the link").choices(["viewer", "driver"]).default("viewer"),
    )
    .option(
      "--seconds <n>",
      "lifetime of the link in seconds (default: a day)",
      readWhole(1, MAX_SHARE_SECONDS, " of seconds"),
    )
    .option("--guests", "allow people who are not logged in")
    .option("--max-clients <n>", "how many clients may use the link at a time (default: 16)", readWhole(1, MAX_CLIENTS))
    .option("--json", "print the server's answer as JSON")
    .action((url: string | undefined, flags: TargetFlags & ShareFlags) => {
      const { role, seconds, guests = false, maxClients, json = false } = flags;
      const target = sessionTargetOf(url, flags, defaults);
      done({ kind: "share", ...target, role, seconds, guests, maxClients, isJson: json });
    });
  aboutSession("tickets [url]", "list the valid share links of a session")
    .option("--json", "print the server's answer as JSON")
    .action((url: string | undefined, flags: TargetFlags & { json?: boolean }) => {
      done({ kind: "tickets", ...sessionTargetOf(url, flags, defaults), isJson: flags.json === true });
    });
  aboutSession("revoke <words...>", "revoke a share link, and disconnect everyone who used it")
    .usage("[URL] [options] ID")
    .action((given: readonly string[], flags: TargetFlags) => {
      const [url, ids] = isAddress(given[0]) ? [given[0], given.slice(1)] : [undefined, given];
      const [id, ...more] = ids;
      if (id === undefined || more.length > 0) throw usage("revoke needs the ID of one link; see sbx-stdio tickets");
      done({ kind: "revoke", ...sessionTargetOf(url, flags, defaults), id });
    });
}
