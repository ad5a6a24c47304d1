// Lists, holds, releases and removes recordings over HTTP.

import { defined, isRecord } from "sandbox-stdio/core";
import type { RecordingsCommand } from "../args/cli-command.ts";
import { safeJson } from "../base/plain-text.ts";
import { cellText, table } from "../base/table.ts";
import { fetchJson, fetchText } from "../connection/api-call.ts";

/** @returns Text for standard output, and a notice. @throws {CliError} */
export async function runRecordings(
  { endpoint, sandbox, session = "", action, options }: RecordingsCommand,
  token: string,
): Promise<{ readonly out: string; readonly notice?: string }> {
  const { incarnation, reason, of, json } = options;
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}/recording`;
  if (action === "list") {
    const answer = await fetchJson(endpoint, `${path}s`, token);
    return { out: json === true ? `${safeJson(answer, 2)}\n` : listOf(answer) };
  }
  if (action === "hold") {
    await fetchText(endpoint, `${path}/hold`, token, { method: "POST", body: defined({ reason, incarnation }) });
    return { out: "", notice: "the recording is held" };
  }
  const query = new URLSearchParams(defined({ incarnation, sub: of, all: options.all === true ? "1" : undefined }));
  const where = of === undefined ? path + (action === "release" ? "/hold" : "") : "/api/recordings";
  const answer = await fetchText(endpoint, `${where}?${query}`, token, { method: "DELETE" });
  if (of !== undefined) return { out: answer, notice: "their recordings are removed" };
  return { out: "", notice: action === "release" ? "the recording is released" : "removed" };
}

function listOf(answer: unknown): string {
  const all = isRecord(answer) && Array.isArray(answer.recordings) ? answer.recordings.filter(isRecord) : [];
  const rows = all.map(({ incarnation, startedAt, endedAt, seconds, bytes, held }) => [
    ...[incarnation, startedAt, endedAt ?? "runs", seconds, bytes].map(cellText),
    isRecord(held) ? cellText(held.reason) : "",
  ]);
  return table([["INCARNATION", "STARTED", "ENDED", "SECONDS", "BYTES", "HELD"], ...rows]);
}
