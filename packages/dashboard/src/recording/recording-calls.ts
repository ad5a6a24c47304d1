// The server's routes about a session's recording (G3 to G6), as the page asks them.

import { defined, isRecord } from "sandbox-stdio/core";
import { type CastEvent, type CastInfo, CastReader } from "sandbox-stdio/recording";
import { callApi, textOf } from "../connection/api.ts";
import { pathOf, type SessionTarget } from "../connection/session-target.ts";

/** Without `incarnation` that of the link. */
export type Listed = {
  readonly incarnation: string | undefined;
  readonly startMs: number;
  readonly endMs: number | undefined;
};

/** A command's start, or a match: an offset of the log or an ISO time, and when that was. */
export type Mark = { readonly from: string; readonly atMs: number; readonly label: string };

/** More matches are not shown. */
const MAX_HITS = 1_000;

/** @throws {Error} With the server's words. */
async function ask(path: string, ticket: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  const answer = await callApi("GET", path, undefined, { ticket });
  if (!answer.ok) throw new Error(answer.reason ?? "the server sent an invalid response");
  if (!isRecord(answer.value)) throw new Error("the server sent an invalid response");
  return answer.value;
}

export class RecordingCalls {
  readonly #path: string;
  readonly #ticket: string | undefined;

  /** @param ticket The share ticket of a visitor, which may give the recording of its process. */
  constructor(target: SessionTarget, ticket: string | undefined) {
    this.#path = pathOf(target);
    this.#ticket = ticket;
  }

  /** The recording of this process, or the newest. @throws {Error} Also if there is none. */
  async find(incarnation: string | undefined): Promise<Listed> {
    const { recordings } = await ask(`${this.#path}/recordings?limit=1000`, this.#ticket);
    for (const one of Array.isArray(recordings) ? recordings : []) {
      const [id, startMs] = [textOf(one, "incarnation"), timeOf(one, "startedAt")];
      if (id === undefined || startMs === undefined || (incarnation !== undefined && id !== incarnation)) continue;
      return { incarnation: id, startMs, endMs: timeOf(one, "endedAt") };
    }
    throw new Error("there is no recording");
  }

  address(query: Readonly<Record<string, string>>): string {
    return `${this.#path}/recording?${new URLSearchParams(query)}`;
  }

  /** @throws {Error} If the server refuses, the network fails, or what comes is no recording. */
  async *events(
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): AsyncGenerator<readonly [CastInfo, readonly CastEvent[]]> {
    const response = await fetch(this.address(query), {
      cache: "no-store",
      signal,
      headers: defined({ "X-Stdio-Ticket": this.#ticket }),
    });
    if (!response.ok) {
      const value: unknown = await response.json().catch(() => undefined);
      throw new Error(textOf(value, "message") ?? `HTTP ${response.status}`);
    }
    const reader = new CastReader();
    const body = response.body?.getReader();
    for (;;) {
      const piece = await body?.read();
      const events = piece?.value === undefined ? reader.end() : reader.push(piece.value);
      if (reader.info !== undefined) yield [reader.info, events];
      if (piece?.value === undefined) return;
    }
  }

  /** The commands of the shell that is recorded, oldest first. None without marks. */
  async commands(incarnation: string): Promise<Mark[]> {
    const answer = await callApi("GET", `${this.#path}/commands?${new URLSearchParams({ incarnation })}`);
    const { commands } = answer.ok && isRecord(answer.value) ? answer.value : {};
    return marksOf(commands, "from", "startedAt", (one) => textOf(one, "line") ?? "");
  }

  /** @throws {Error} */
  async search(incarnation: string | undefined, text: string, signal: AbortSignal): Promise<Mark[]> {
    const hits: Mark[] = [];
    for (let from: unknown = 0; typeof from === "number" && hits.length < MAX_HITS && !signal.aborted; ) {
      const asked = defined({ incarnation, text, from: String(from), limit: String(MAX_HITS) });
      const answer = await ask(`${this.#path}/recording/search?${new URLSearchParams(asked)}`, this.#ticket);
      hits.push(...marksOf(answer.hits, "offset", "time", (one) => textOf(one, "line") ?? ""));
      from = answer.next;
    }
    return hits;
  }
}

function timeOf(value: unknown, field: string): number | undefined {
  const ms = Date.parse(textOf(value, field) ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}

function marksOf(list: unknown, offset: string, time: string, label: (one: unknown) => string): Mark[] {
  return (Array.isArray(list) ? list : []).flatMap((one: unknown) => {
    const atMs = timeOf(one, time);
    const from = isRecord(one) ? one[offset] : undefined;
    return atMs === undefined || typeof from !== "number" ? [] : [{ from: String(from), atMs, label: label(one) }];
  });
}
