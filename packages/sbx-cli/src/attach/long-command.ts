// Whether a command fits an address. One that is too long is started over HTTP (start-long.ts).

import { parseAttachQuery } from "sandbox-stdio/core";
import type { AttachWish } from "../args/cli-command.ts";
import { usage } from "../base/outcome.ts";
import { attachQuery } from "./attach-query.ts";

/** An address takes so much, not counting the command. */
const TOO_LONG = /^the command is too long/;

/** Whether the wish fits an address. @throws {CliError} Where it would be refused for another reason. */
export function fitsAddress(wish: AttachWish): boolean {
  const params = attachQuery(wish, false, undefined);
  const query = parseAttachQuery(new URLSearchParams([...params, ["attempt", "a.0"]]));
  if (query.ok) return true;
  if (TOO_LONG.test(query.detail) && wish.ticket === undefined && wish.cmd !== undefined) return false;
  throw usage(query.detail);
}
