// The commands that ask the server over HTTP: which sessions there are, and ending one.

import { isRecord, quote } from "sandbox-stdio/core";
import type { Endpoint } from "./endpoint.ts";
import { CliError } from "./outcome.ts";
import { describeFailure, messageOf } from "./socket.ts";
import { table, cellText as text } from "./table.ts";

const TIMEOUT_MS = 20_000;

/** Pages that are asked for at most: a server that never ends its list is not followed for ever. */
const MAX_PAGES = 1_000;

/** What the server lists, all pages as one. @throws {CliError} */
export async function listSessions(endpoint: Endpoint, sandbox: string, token: string): Promise<unknown> {
  const sessions: unknown[] = [];
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions${after}`;
    const answer: unknown = await (await ask(endpoint, "GET", path, token)).json();
    if (!isRecord(answer) || !Array.isArray(answer.sessions)) return answer;
    sessions.push(...(answer.sessions as unknown[]));
    if (typeof answer.next !== "string") break;
    after = `?after=${encodeURIComponent(answer.next)}`;
  }
  return { sessions };
}

/** @throws {CliError} Also where there is no such session. */
export async function killSession(endpoint: Endpoint, sandbox: string, session: string, token: string): Promise<void> {
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  await ask(endpoint, "DELETE", path, token);
}

/** Asks the API. @param body Sent as JSON. @throws {CliError} For any answer but a good one. */
export async function ask(
  endpoint: Endpoint,
  method: string,
  path: string,
  token: string,
  body?: unknown,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`${endpoint.httpBase}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const host = new URL(endpoint.origin).host;
    throw new CliError(describeFailure(cause instanceof Error ? cause : new Error(String(cause)), host));
  }
  if (response.ok) return response;
  throw new CliError(messageOf(await response.text()) ?? `the server answered HTTP ${response.status}`);
}

const COLUMNS = ["SESSION", "STATE", "KIND", "CLIENTS", "OUTPUT", "AGE", "COMMAND"] as const;
const AGE_UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
  [1, "s"],
] as const;

/** How long ago a time was, in the largest unit of which there are two; empty where it is no time. */
export function age(time: string, nowMs = Date.now()): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1_000));
  if (Number.isNaN(seconds)) return "";
  const [length, unit] = AGE_UNITS.find(([one]) => seconds >= 2 * one) ?? [1, "s"];
  return `${Math.floor(seconds / length)}${unit}`;
}

/** What of the list runs. */
export function runningOf(answer: unknown): Record<string, unknown>[] {
  const list = isRecord(answer) && Array.isArray(answer.sessions) ? answer.sessions.filter(isRecord) : [];
  return list.filter(({ state }) => state === "running");
}

/** The list as lines of text; not `hasAll`: of what runs alone. Fields that the server left out are empty. */
export function sessionTable(answer: unknown, hasAll = true): string {
  const list = isRecord(answer) && Array.isArray(answer.sessions) ? answer.sessions.filter(isRecord) : [];
  const shown = hasAll ? list : runningOf(answer);
  return table([COLUMNS, ...shown.map(rowOf)]);
}

function rowOf(entry: Record<string, unknown>): string[] {
  const exit = isRecord(entry.exit) ? ` ${text(entry.exit.signal ?? entry.exit.code)}` : "";
  const words = [entry.cmd, entry.args].flat().filter((word) => word !== undefined);
  const cmd = words.map(text).map(quote).join(" ");
  return [
    text(entry.session),
    `${text(entry.state)}${exit}`,
    entry.tty === true ? "pty" : "pipes",
    text(entry.clients),
    text(entry.offset),
    age(text(entry.createdAt)),
    cmd,
  ];
}
