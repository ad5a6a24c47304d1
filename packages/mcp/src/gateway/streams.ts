// Which of a client's streams each message of the server belongs to; what is kept of them for a client that resumes, and when it is
// too much. Stream 0 is the client's GET; each POST with requests has one of its own. Messages are kept by a journal, whose owner
// may die at any moment; connections read them from there, each at its own pace.

import type { Line } from "./json-lines.ts";
import { keyOf, type Sent } from "./messages.ts";

/** Bytes of messages that no client has got yet; beyond, the session ends. */
export const MAX_UNANSWERED_BYTES = 8 * 1024 * 1024;
/** Messages that no client has got yet: two bytes of JSON are one, too. */
export const MAX_UNANSWERED = 50_000;
/** Requests that are not answered: a client that sends more has left most of them. */
const MAX_PENDING = 1_000;
/** Messages that were sent on, and are kept in case their client did not get them. */
const MAX_DELIVERED = 1_000;

/** The client's GET. */
export const LISTENING = 0;
/** JSON-RPC: an error of the implementation's own. */
const REFUSED = -32_000;
export const TOO_LONG = "a message of the server is longer than 4 MiB";

export type JournalEvent = { readonly stream: number; readonly offset: number; readonly text: string };
/** A stream's requests that are not answered. */
export type JournalStream = { readonly stream: number; readonly pending: readonly Pending[] };
export type Pending = { readonly id: string; readonly progressToken?: string };

export type KeptEvent = {
  readonly stream: number;
  readonly offset: number;
  readonly bytes: number;
  /** Whether it was sent on to a client, which may have got it. */
  isDelivered: boolean;
};

/** Keeps the state that must outlive its owner. Each call is stored before the next thing that the owner says to anybody. */
export interface Journal {
  streams(): readonly JournalStream[];
  /** Without their texts, in the order of their offsets. */
  kept(): readonly KeptEvent[];
  /** The first one of a stream behind an offset. */
  next(stream: number, after: number): JournalEvent | undefined;
  add(event: JournalEvent): void;
  delivered(offset: number): void;
  drop(offset: number): void;
  saveStream(stream: JournalStream): void;
  dropStream(stream: number): void;
}

type Stream = { pending: readonly Pending[]; connections: number; events: number };

export class Streams {
  readonly #journal: Journal;
  readonly #streams = new Map<number, Stream>();
  #kept: KeptEvent[] = [];
  #bytes = 0;
  #delivered = 0;
  #lastNumber: number;
  #lastOffset: number;

  /** @param last The earlier value of {@link Streams.last}. */
  constructor(journal: Journal, last: EventPlace = { stream: LISTENING, offset: 0 }) {
    this.#journal = journal;
    this.#lastNumber = last.stream;
    this.#lastOffset = last.offset;
    this.#streams.set(LISTENING, { pending: [], connections: 0, events: 0 });
    for (const { stream, pending } of journal.streams())
      this.#streams.set(stream, { pending, connections: 0, events: 0 });
    for (const kept of journal.kept()) this.#note({ ...kept });
  }

  /** The stream that was made last, and the offset of the last message. */
  get last(): EventPlace {
    return { stream: this.#lastNumber, offset: this.#lastOffset };
  }

  /** Whether a request waits for its answer. */
  get isAwaiting(): boolean {
    return [...this.#streams.values()].some(({ pending }) => pending.length > 0);
  }

  /** Whether more has come than is kept for clients that do not fetch it. */
  get isFull(): boolean {
    return this.#isLong || this.#kept.length - this.#delivered > MAX_UNANSWERED;
  }

  get #isLong(): boolean {
    return this.#bytes > MAX_UNANSWERED_BYTES;
  }

  /** Whether `id` is that of a request which is not answered: another one may not have it. */
  isPending(id: string): boolean {
    return [...this.#streams.values()].some(({ pending }) => pending.some((one) => one.id === id));
  }

  /** Whether so many requests more may wait for their answers. */
  hasRoomFor(requests: number): boolean {
    return [...this.#streams.values()].reduce((sum, { pending }) => sum + pending.length, requests) <= MAX_PENDING;
  }

  /** A POST's requests. @returns Its stream; undefined where there is nothing to answer. */
  open(sent: readonly Sent[]): number | undefined {
    const pending = sent.flatMap(({ id, progressToken }) => (id === undefined ? [] : [pendingOf(id, progressToken)]));
    if (pending.length === 0) return undefined;
    this.#lastNumber += 1;
    const stream = this.#lastNumber;
    this.#streams.set(stream, { pending, connections: 0, events: 0 });
    this.#journal.saveStream({ stream, pending });
    return stream;
  }

  /** Whether a client may go on there: it is open, or something is kept of it, and it has come so far. */
  has({ stream, offset }: EventPlace): boolean {
    return this.#streams.has(stream) && offset <= this.#lastOffset;
  }

  /** Whether all of a stream's requests are answered. */
  isAnswered(stream: number): boolean {
    return stream !== LISTENING && (this.#streams.get(stream)?.pending.length ?? 0) === 0;
  }

  connected(stream: number): void {
    const state = this.#streams.get(stream);
    if (state !== undefined) state.connections += 1;
  }

  disconnected(stream: number): void {
    const state = this.#streams.get(stream);
    if (state !== undefined) state.connections -= 1;
  }

  /** A message of the server. An answer for which no request waits belongs to no stream. */
  add({ text, message, end, isTooLong }: Line): void {
    if (isTooLong === true) {
      const id = idOfAnswer(message);
      if (id !== undefined) this.refuse(id, TOO_LONG, end);
      return;
    }
    const stream = this.#route(message);
    if (stream !== undefined) this.#put(stream, text, end, idOfAnswer(message));
  }

  /** Answers a request itself: it was cancelled, or there is no server any more. */
  refuse(id: string, message: string, end = 0): void {
    for (const [stream, { pending }] of this.#streams) {
      if (pending.some((one) => one.id === id)) this.#put(stream, refusalOf(id, message), end, id);
    }
  }

  /** Answers all requests that are not answered. */
  refuseAll(message: string): void {
    const ids = [...this.#streams.values()].flatMap(({ pending }) => pending.map(({ id }) => id));
    for (const id of ids) this.refuse(id, message);
  }

  /** The first message of a stream behind an offset. */
  next(stream: number, after: number): JournalEvent | undefined {
    return this.#journal.next(stream, after);
  }

  /** Where a GET without an id goes on: behind the messages that were sent on before. */
  get listeningFrom(): number {
    const sent = this.#kept.filter((kept) => kept.stream === LISTENING && kept.isDelivered);
    return sent.at(-1)?.offset ?? 0;
  }

  /** A message was sent on. */
  delivered(stream: number, offset: number): void {
    const kept = this.#kept.find((one) => one.offset === offset && one.stream === stream);
    if (kept === undefined || kept.isDelivered) return;
    kept.isDelivered = true;
    this.#journal.delivered(offset);
    this.#delivered += 1;
    this.#shrink();
  }

  /** An answer belongs to its request, progress to the request that it is of, all else to the GET, or to the oldest open POST. */
  #route(message: Readonly<Record<string, unknown>>): number | undefined {
    const answered = idOfAnswer(message);
    const progress = progressOf(message);
    let oldest: number | undefined;
    for (const [stream, { pending, connections }] of this.#streams) {
      if (answered !== undefined && pending.some(({ id }) => id === answered)) return stream;
      if (progress !== undefined && pending.some((one) => one.progressToken === progress)) return stream;
      if (stream !== LISTENING && connections > 0 && pending.length > 0) oldest ??= stream;
    }
    if (answered !== undefined) return undefined;
    const isListening = (this.#streams.get(LISTENING)?.connections ?? 0) > 0;
    return isListening ? LISTENING : (oldest ?? LISTENING);
  }

  #put(stream: number, text: string, end: number, answered: string | undefined): void {
    const state = this.#streams.get(stream);
    if (state === undefined) return;
    // Bytes that the server has said, and more than before where it was not the server that said it.
    this.#lastOffset = Math.max(end, this.#lastOffset + 1);
    const event = { stream, offset: this.#lastOffset, text };
    this.#journal.add(event);
    this.#note({ stream, offset: event.offset, bytes: text.length, isDelivered: false });
    if (answered !== undefined) {
      state.pending = state.pending.filter(({ id }) => id !== answered);
      this.#journal.saveStream({ stream, pending: state.pending });
    }
    this.#shrink();
  }

  #note(kept: KeptEvent): void {
    this.#kept.push(kept);
    this.#bytes += kept.bytes;
    if (kept.isDelivered) this.#delivered += 1;
    const state = this.#streams.get(kept.stream);
    if (state !== undefined) state.events += 1;
  }

  /** If much is kept, forgets messages that were sent on, the oldest first. It never forgets others. */
  #shrink(): void {
    while (this.#delivered > 0 && (this.#isLong || this.#delivered > MAX_DELIVERED)) {
      const at = this.#kept.findIndex(({ isDelivered }) => isDelivered);
      const [oldest] = this.#kept.splice(at, 1);
      if (oldest === undefined) return;
      this.#delivered -= 1;
      this.#bytes -= oldest.bytes;
      this.#journal.drop(oldest.offset);
      const state = this.#streams.get(oldest.stream);
      if (state === undefined) continue;
      state.events -= 1;
      if (state.events > 0 || state.connections > 0 || !this.isAnswered(oldest.stream)) continue;
      this.#streams.delete(oldest.stream);
      this.#journal.dropStream(oldest.stream);
    }
  }
}

/** The answer to a request that is refused. @param id As JSON. */
export function refusalOf(id: string, message: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: REFUSED, message })}}`;
}

function pendingOf(id: string, progressToken: string | undefined): Pending {
  return progressToken === undefined ? { id } : { id, progressToken };
}

function idOfAnswer({ id, method }: Readonly<Record<string, unknown>>): string | undefined {
  return method === undefined ? keyOf(id) : undefined;
}

function progressOf({ method, params }: Readonly<Record<string, unknown>>): string | undefined {
  if (method !== "notifications/progress" || typeof params !== "object" || params === null) return undefined;
  return keyOf((params as { progressToken?: unknown }).progressToken);
}

export type EventPlace = { readonly stream: number; readonly offset: number };

/** Where a client goes on: an event's id is `STREAM.OFFSET`. */
export function placeOf(id: string): EventPlace | undefined {
  const [, stream, offset] = /^(\d{1,15})\.(\d{1,15})$/.exec(id) ?? [];
  return stream === undefined ? undefined : { stream: Number(stream), offset: Number(offset) };
}
