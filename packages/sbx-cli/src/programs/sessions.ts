// Lists and ends sessions over HTTP.

import { isRecord } from "sandbox-stdio/core";
import type { Endpoint } from "../base/endpoint.ts";
import { fetchJson, fetchText, RefusedError } from "../connection/api-call.ts";

/** Limit of pages, in case a server's list never ends. */
const MAX_PAGES = 1_000;

/** All pages of the server's list as one. @throws {CliError} */
export async function listSessions(endpoint: Endpoint, sandbox: string, token: string): Promise<unknown> {
  const sessions: unknown[] = [];
  let after = "";
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions${after}`;
    const answer: unknown = await fetchJson(endpoint, path, token);
    if (!isRecord(answer) || !Array.isArray(answer.sessions)) return answer;
    sessions.push(...(answer.sessions as unknown[]));
    if (typeof answer.next !== "string") break;
    after = `?after=${encodeURIComponent(answer.next)}`;
  }
  return { sessions };
}

/**
 * The sessions, running or kept, in all of the person's sandboxes with running ones; each entry names its `sandbox`.
 * @param more An additional sandbox.
 * @returns undefined if the server is too old to list sandboxes. @throws {CliError}
 */
export async function listEverywhere(
  endpoint: Endpoint,
  token: string,
  more: string | undefined,
): Promise<{ sandboxes: number; sessions: unknown[] } | undefined> {
  let answer: unknown;
  try {
    answer = await fetchJson(endpoint, "/api/sandboxes", token);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return undefined;
    throw error;
  }
  const list = isRecord(answer) && Array.isArray(answer.sandboxes) ? answer.sandboxes.filter(isRecord) : [];
  const listed = list.map(({ sandbox }) => sandbox).filter((name) => typeof name === "string");
  const names = [...new Set(more === undefined ? listed : [...listed, more])];
  const listings = await Promise.all(
    names.map(async (sandbox) => {
      const answer = await listSessions(endpoint, sandbox, token);
      return entriesOf(answer).map((entry) => ({ sandbox, ...entry }));
    }),
  );
  return { sandboxes: names.length, sessions: listings.flat() };
}

/** @throws {CliError} Also if there is no such session. */
export async function killSession(endpoint: Endpoint, sandbox: string, session: string, token: string): Promise<void> {
  const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions/${encodeURIComponent(session)}`;
  await fetchText(endpoint, path, token, { method: "DELETE" });
}

/** The entries of a list; none if the answer is not a list. */
export function entriesOf(answer: unknown): Record<string, unknown>[] {
  return isRecord(answer) && Array.isArray(answer.sessions) ? answer.sessions.filter(isRecord) : [];
}

/** The running sessions of a list. */
export function runningOf(answer: unknown): Record<string, unknown>[] {
  return entriesOf(answer).filter(({ state }) => state === "running");
}
