// Sandboxes and their sessions, as the server lists them, what their screens show, and how one is ended. Never throws.

import { isRecord } from "sandbox-stdio/core";
import { type Answer, ask, textOf, unreadable } from "../connection/answers.ts";
import { type Place, pathOf } from "../connection/place.ts";

export type ListedSession = {
  readonly place: Place;
  readonly state: "running" | "exited" | "lost";
  readonly tty: boolean;
  readonly command: readonly string[];
  readonly createdAtMs: number;
  /** How many are attached. */
  readonly clients: number;
  /** The names of those who are attached and known by one, each once. */
  readonly people: readonly string[];
  /** NaN where there was no output, or the server does not know. */
  readonly lastOutputAtMs: number;
  /** The title that the program gave its terminal. */
  readonly title: string | undefined;
  readonly exitCode: number | undefined;
};

/** The lines that a session shows last. */
export type Look = { readonly cols: number; readonly lines: readonly string[] };

const PAGE = 100;
/** A sandbox of the default limits has no more. */
const MAX_PAGES = 4;
/** Of one on pipes, which has no screen. */
const TAIL_BYTES = 2_048;
const PIPE_COLS = 80;
const PIPE_LINES = 24;
/** Fewer columns would make larger characters than those of the list. */
const MINIATURE_COLS = 48;

/** The sandboxes in which this person's tenant has sessions that have not ended. */
export async function listSandboxes(signal: AbortSignal): Promise<Answer<readonly string[]>> {
  const answer = await ask("GET", "/api/sandboxes", undefined, { signal });
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
    const query = new URLSearchParams({ limit: String(PAGE), ...(after === undefined ? {} : { after }) });
    const path = `/api/sandboxes/${encodeURIComponent(sandbox)}/sessions?${query}`;
    const answer = await ask("GET", path, undefined, signal === undefined ? {} : { signal });
    if (!answer.ok) return answer;
    if (!isRecord(answer.value) || !Array.isArray(answer.value.sessions)) return unreadable();
    sessions.push(...answer.value.sessions.map((one) => sessionOf(sandbox, one)).filter((one) => one !== undefined));
    after = textOf(answer.value, "next");
    if (after === undefined) break;
  }
  return { ok: true, value: sessions };
}

/** @returns undefined where there is nothing to be seen, for now. */
export async function lookAt({ place, tty }: ListedSession, signal: AbortSignal): Promise<Look | undefined> {
  const path = tty ? "screen" : `output?tail=${TAIL_BYTES}&format=plain`;
  const answer = await ask("GET", `${pathOf(place)}/${path}`, undefined, { signal });
  if (!answer.ok || !isRecord(answer.value)) return undefined;
  if (!tty) {
    const lines = (textOf(answer.value, "output") ?? "").split("\n").slice(-PIPE_LINES);
    return { cols: PIPE_COLS, lines: lines.map((line) => line.slice(0, PIPE_COLS)) };
  }
  const { cols, lines } = answer.value;
  if (typeof cols !== "number" || !Array.isArray(lines)) return undefined;
  return { cols, lines: lines.filter((line) => typeof line === "string") };
}

/** The last line that is not empty. */
export function lastLineOf({ lines }: Look): string {
  return lines.findLast((line) => line.trim() !== "")?.trim() ?? "";
}

/** How many columns a miniature has: those that are used, as a wide window with short lines would be too small to read. */
export function miniatureCols({ cols, lines }: Look): number {
  // Characters of two cells are few enough where lines are as long as the window is wide.
  return Math.min(cols, Math.max(MINIATURE_COLS, ...lines.map((line) => line.trimEnd().length)));
}

export async function endSession(place: Place): Promise<Answer<undefined>> {
  const answer = await ask("DELETE", pathOf(place));
  return answer.ok ? { ok: true, value: undefined } : answer;
}

function sessionOf(sandbox: string, value: unknown): ListedSession | undefined {
  const session = textOf(value, "session");
  if (session === undefined || !isRecord(value)) return undefined;
  const { state, args, clients, exit, participants } = value;
  const names = Array.isArray(participants) ? participants.map((one) => textOf(one, "name")) : [];
  const words = Array.isArray(args) ? args.filter((arg) => typeof arg === "string") : [];
  return {
    place: { sandbox, session },
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
