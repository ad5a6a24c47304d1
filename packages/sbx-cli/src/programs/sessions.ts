// The commands that ask the server over HTTP: which sessions there are, and ending one.

import { isRecord } from "sandbox-stdio/core";
import type { Endpoint } from "../base/endpoint.ts";
import { ask, askJson, RefusedError } from "../connection/api-call.ts";

/** Pages that are asked for at most: a server that never ends its list is not followed for ever. */
const MAX_PAGES = 1_000;

/** The server's list, all pages as one. @throws {CliError} */
export async function listSessions(endpoint: Endpoint, sandbox: string, token: string): Promise<unknown> {
  const sessions: unknown[] = [];
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions${after}`;
    const answer: unknown = await askJson(endpoint, path, token);
    if (!isRecord(answer) || !Array.isArray(answer.sessions)) return answer;
    sessions.push(...(answer.sessions as unknown[]));
    if (typeof answer.next !== "string") break;
    after = `?after=${encodeURIComponent(answer.next)}`;
  }
  return { sessions };
}

/**
 * The sessions, running or kept, in all of the person's sandboxes that have running ones; each entry names its `sandbox`.
 * @param more A sandbox that is asked for besides.
 * @returns undefined where the server is too old to say which sandboxes there are. @throws {CliError}
 */
export async function listEverywhere(
  endpoint: Endpoint,
  token: string,
  more: string | undefined,
): Promise<{ sandboxes: number; sessions: unknown[] } | undefined> {
  let answer: unknown;
  try {
    answer = await askJson(endpoint, "/api/sandboxes", token);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return undefined;
    throw error;
  }
  const list = isRecord(answer) && Array.isArray(answer.sandboxes) ? answer.sandboxes.filter(isRecord) : [];
  const told = list.map(({ sandbox }) => sandbox).filter((name) => typeof name === "string");
  const names = [...new Set(more === undefined ? told : [...told, more])];
  const listings = await Promise.all(
    names.map(async (sandbox) => {
      const listed = await listSessions(endpoint, sandbox, token);
      return entriesOf(listed).map((entry) => ({ sandbox, ...entry }));
    }),
  );
  return { sandboxes: names.length, sessions: listings.flat() };
}

/** @throws {CliError} Also where there is no such session. */
export async function killSession(endpoint: Endpoint, sandbox: string, session: string, token: string): Promise<void> {
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  await ask(endpoint, path, token, { method: "DELETE" });
}

/** The entries of a server's list: none if that is no list. */
export function entriesOf(answer: unknown): Record<string, unknown>[] {
  return isRecord(answer) && Array.isArray(answer.sessions) ? answer.sessions.filter(isRecord) : [];
}

/** The running sessions of the list. */
export function runningOf(answer: unknown): Record<string, unknown>[] {
  return entriesOf(answer).filter(({ state }) => state === "running");
}
