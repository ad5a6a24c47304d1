// The person that the server takes us for.

import { isRecord } from "sandbox-stdio/core";
import type { Place } from "./cli-command.ts";
import { safeJson } from "./plain-text.ts";
import { ask } from "./sessions.ts";
import { cellText } from "./table.ts";

/** @throws {CliError} */
export async function whoAmI(
  { endpoint, isJson }: Place & { readonly isJson: boolean },
  token: string,
): Promise<string> {
  const answer: unknown = await (await ask(endpoint, "GET", "/api/me", token)).json();
  if (isJson || !isRecord(answer)) return `${safeJson(answer, 2)}\n`;
  const lines = Object.entries(answer).map(([name, value]) => {
    const text = Array.isArray(value) ? value.map(cellText).join(" ") : cellText(value);
    return `${cellText(name)}: ${text || safeJson(value)}`;
  });
  return `${lines.join("\n")}\n`;
}
