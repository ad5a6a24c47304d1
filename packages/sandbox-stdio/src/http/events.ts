// Reads server-sent events of a session's output over fetch, since EventSource can't send a token. A broken stream resumes after
// its last event.

import { StdioError } from "../connect/error.ts";
import type { ExitInfo, GapInfo, State } from "./program-types.ts";

export type OutputEvent =
  | {
      readonly type: "output";
      readonly output: string;
      /** Invalid UTF-8 was replaced by U+FFFD. */
      readonly lossy?: true;
      readonly from: number;
      readonly next: number;
    }
  | ({ readonly type: "gap" } & GapInfo)
  | {
      readonly type: "attention";
      readonly kind: string;
      readonly title?: string;
      readonly body?: string;
      readonly offset: number;
    }
  /** `code` is absent if the process was lost. */
  | ({ readonly type: "exit"; readonly state: State; readonly offset: number } & Partial<ExitInfo>);

type RawEvent = { readonly id: string | undefined; readonly type: string; readonly data: string };

const HTTP_NO_CONTENT = 204;
const PAUSE_MS = 250;
const MAX_EMPTY_STREAMS = 20;

/** @param open Requests the stream after the event with this id. @throws {StdioError} */
export async function* readEvents(
  open: (lastEventId: string | undefined) => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<OutputEvent, void, void> {
  let lastId: string | undefined;
  for (let empty = 0; empty < MAX_EMPTY_STREAMS; empty += 1) {
    const response = await open(lastId);
    if (response.status === HTTP_NO_CONTENT || response.body === null) return;
    try {
      for await (const event of eventsOf(response.body)) {
        empty = 0;
        lastId = event.id ?? lastId;
        // Skip unknown events: the server may be newer.
        const parsed = parsedEvent(event);
        if (parsed !== undefined) yield parsed;
        if (parsed?.type === "exit") return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof StdioError) throw error;
      // The connection broke; the next stream resumes.
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  throw new StdioError("unreachable", `The stream ended ${MAX_EMPTY_STREAMS} times without an event`);
}

function parsedEvent({ type, data }: RawEvent): OutputEvent | undefined {
  if (type !== "output" && type !== "gap" && type !== "attention" && type !== "exit") return undefined;
  const fields: unknown = JSON.parse(data);
  if (typeof fields !== "object" || fields === null)
    throw new StdioError("bad_event", `An event "${type}" has no fields`);
  return { ...fields, type } as OutputEvent;
}

/** Parses whole events: name, id, joined data lines. Skips comments. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<RawEvent, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): RawEvent | undefined {
  let [id, type]: (string | undefined)[] = [];
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
    if (field === "id") id = value;
    else if (field === "event") type = value;
    else if (field === "data") data.push(value);
  }
  return type === undefined ? undefined : { id, type, data: data.join("\n") };
}
