// Lists sandboxes and sessions, fetches their screens, and ends sessions. Never throws.

import { defined, isRecord } from "sandbox-stdio/core";
import { type Answer, callApi, textOf, unreadable } from "../connection/api.ts";
import { pathOf, type SessionTarget } from "../connection/session-target.ts";

export type ListedSession = {
  readonly target: SessionTarget;
  readonly state: "running" | "exited" | "lost";
  readonly tty: boolean;
  readonly command: readonly string[];
  readonly createdAtMs: number;
  /** Number of attached clients. */
  readonly clients: number;
  /** Distinct names of attached people. */
  readonly people: readonly string[];
  /** NaN without output, or if unknown. */
  readonly lastOutputAtMs: number;
  /** The terminal's title. */
  readonly title: string | undefined;
  readonly exitCode: number | undefined;
};

/** The last lines of a session. */
export type SessionScreen = { readonly cols: number; readonly lines: readonly string[] };

const PAGE = 100;
/** A sandbox with default limits has no more. */
const MAX_PAGES = 4;
/** For sessions on pipes, which have no screen. */
const TAIL_BYTES = 2_048;
const PIPE_COLS = 80;
const PIPE_LINES = 24;
/** With fewer columns the preview would be larger than the list's text. */
const MINIATURE_COLS = 48;

/** The sandboxes with running sessions of this person's tenant. */
export async function listSandboxes(signal: AbortSignal): Promise<Answer<readonly string[]>> {
  const answer = await callApi("GET", "/api/sandboxes", undefined, { signal });
  if (!answer.ok) return answer;
  if (!isRecord(answer.value) || !Array.isArray(answer.value.sandboxes)) return unreadable();
  const names = answer.value.sandboxes.map((one) => textOf(one, "sandbox"));
  return { ok: true, value: names.filter((name) => name !== undefined) };
}

/** Newest first. */
export async function listSessions(sandbox: string, signal?: AbortSignal): Promise<Answer<readonly ListedSession[]>> {
  const sessions: ListedSession[] = [];
  let after: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({ limit: String(PAGE), ...defined({ after }) });
    const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions?${query}`;
    const answer = await callApi("GET", path, undefined, defined({ signal }));
    if (!answer.ok) return answer;
    if (!isRecord(answer.value) || !Array.isArray(answer.value.sessions)) return unreadable();
    sessions.push(...answer.value.sessions.map((one) => sessionOf(sandbox, one)).filter((one) => one !== undefined));
    after = textOf(answer.value, "next");
    if (after === undefined) break;
  }
  return { ok: true, value: sessions };
}

/** @returns undefined if there is nothing to show now. */
export async function fetchScreen(
  { target, tty }: ListedSession,
  signal: AbortSignal,
): Promise<SessionScreen | undefined> {
  const path = tty ? "screen" : `output?tail=${TAIL_BYTES}&format=plain`;
  const answer = await callApi("GET", `${pathOf(target)}/${path}`, undefined, { signal });
  if (!answer.ok || !isRecord(answer.value)) return undefined;
  if (!tty) {
    const lines = (textOf(answer.value, "output") ?? "").split("\n").slice(-PIPE_LINES);
    return { cols: PIPE_COLS, lines: lines.map((line) => line.slice(0, PIPE_COLS)) };
  }
  const { cols, lines } = answer.value;
  if (typeof cols !== "number" || !Array.isArray(lines)) return undefined;
  return { cols, lines: lines.filter((line) => typeof line === "string") };
}

/** Columns of a preview: only those in use, since a wide window with short lines would be unreadable. */
export function miniatureCols({ cols, lines }: SessionScreen): number {
  // Ignores that some characters take two cells.
  return Math.min(cols, Math.max(MINIATURE_COLS, ...lines.map((line) => line.trimEnd().length)));
}

export async function endSession(target: SessionTarget): Promise<Answer<undefined>> {
  const answer = await callApi("DELETE", pathOf(target));
  return answer.ok ? { ok: true, value: undefined } : answer;
}

function sessionOf(sandbox: string, value: unknown): ListedSession | undefined {
  const session = textOf(value, "session");
  if (session === undefined || !isRecord(value)) return undefined;
  const { state, args, clients, exit, participants } = value;
  const names = Array.isArray(participants)
    ? participants.map((one) => textOf(one, "person") ?? textOf(one, "name"))
    : [];
  const words = Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [];
  return {
    target: { sandbox, session },
    state: state === "exited" || state === "lost" ? state : "running",
    tty: value.tty === true,
    command: [textOf(value, "cmd") ?? "", ...words],
    createdAtMs: Date.parse(textOf(value, "createdAt") ?? ""),
    clients: typeof clients === "number" ? clients : 0,
    people: [...new Set(names.filter((name) => name !== undefined))],
    lastOutputAtMs: Date.parse(textOf(value, "lastOutputAt") ?? ""),
    title: textOf(value, "title"),
    exitCode: isRecord(exit) && typeof exit.code === "number" ? exit.code : undefined,
  };
}
