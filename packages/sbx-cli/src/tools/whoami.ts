// `whoami`: who the server takes this token for.

import { isRecord } from "sandbox-stdio/core";
import type { Target } from "../args/cli-command.ts";
import { CliError } from "../base/outcome.ts";
import { safeJson } from "../base/plain-text.ts";
import { cellText } from "../base/table.ts";
import { fetchJson, fetchText } from "../connection/api-call.ts";

/** @throws {CliError} If the server does not accept the token. */
export async function whoAmI(
  { endpoint, isJson }: Target & { readonly isJson: boolean },
  token: string,
): Promise<string> {
  const answer = await fetchJson(endpoint, "/api/me", token);
  if (isRecord(answer) && answer.authenticated === false) {
    // Here being logged out is a valid answer, for the page. Any other route gives the reason.
    await fetchText(endpoint, "/api/sandboxes", token);
    throw new CliError("the server does not recognize this token", undefined, {
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
