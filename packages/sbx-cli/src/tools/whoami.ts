// The person that the server takes us for.

import { isRecord } from "sandbox-stdio/core";
import type { Place } from "../args/cli-command.ts";
import { CliError } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { cellText } from "../base/table.ts";
import { ask, askJson } from "../connection/api-call.ts";

/** @throws {CliError} Where the server takes the token for nobody's, with its reason. */
export async function whoAmI(
  { endpoint, isJson }: Place & { readonly isJson: boolean },
  token: string,
): Promise<string> {
  const answer = await askJson(endpoint, "/api/me", token);
  if (isRecord(answer) && answer.authenticated === false) {
    // That nobody is logged in is an answer there, for a page. Any other route says what is wrong with the token.
    await ask(endpoint, "/api/sandboxes", token);
    throw new CliError("the server takes this token for nobody's", undefined, {
      code: "unauthenticated",
      check: "login",
    });
  }
  if (isJson || !isRecord(answer)) return `${safeJson(answer, 2)}\n`;
  const lines = Object.entries(answer).map(([name, value]) => {
    const text = Array.isArray(value) ? value.map(cellText).join(" ") : cellText(value);
    return `${cellText(name)}: ${text || safeJson(value)}`;
  });
  return `${lines.join("\n")}\n`;
}
