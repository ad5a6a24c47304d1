// The line that attaches to a session again, as a shell would need it written. Pure.

import { quote } from "sandbox-stdio/core";
import type { AttachWish } from "../args/cli-command.ts";

/** What stands behind the reason of an end that leaves the session running. */
export const againWords = (wish: AttachWish, session: string) => `; attach again with: ${againCommand(wish, session)}`;

function againCommand(
  { endpoint, sandbox, role, ticket, ticketFrom, resumeFile }: AttachWish,
  session: string,
): string {
  const words = ["sbx-stdio", endpoint.typed, "--sandbox", sandbox, "--session", session];
  if (role === "viewer") words.push("--role", role);
  if (ticketFrom?.from === "file") words.push("--ticket-file", ticketFrom.path);
  else if (ticket !== undefined) words.push("--ticket", ticketFrom === undefined ? ticket : "-");
  if (resumeFile !== undefined) words.push("--resume-file", resumeFile);
  return words.map(quote).join(" ");
}
