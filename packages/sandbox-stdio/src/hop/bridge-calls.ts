// Programs' calls to the bridge: writes and queries. A call is repeated over each new inner hop until it is answered or given up.

import type { ClientRecord } from "../session/client-record.ts";
import { joined } from "../text/utf8-text.ts";
import { MIB } from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import type { Question } from "../wire/inner-messages.ts";
import {
  type HopState,
  type PendingQuery,
  type PendingWrite,
  sendCommand,
  type WriteOutcome,
  type WriteSpec,
} from "./hop-state.ts";

/** Longest answer accepted. */
const MAX_ANSWER_BYTES = 4 * MIB;

/** @see InnerClient.write */
export function startWrite(
  hop: HopState,
  client: ClientRecord,
  spec: WriteSpec,
): { readonly answer: Promise<WriteOutcome>; readonly withdraw: () => void } {
  if (hop.writes.has(client.id)) throw new Error("Cannot write: another write of this program is not answered");
  const { promise: answer, resolve } = withResolver<WriteOutcome>();
  const pending: PendingWrite = { spec, command: undefined, resolve };
  hop.writes.set(client.id, pending);
  if (hop.isReady) sendWrite(hop, client.id, pending);
  const withdraw = () => {
    if (pending.command !== undefined || hop.writes.get(client.id) !== pending) return;
    hop.writes.delete(client.id);
    resolve({ type: "fault" });
  };
  return { answer, withdraw };
}

/** @see InnerClient.ask */
export function startQuery(
  hop: HopState,
  question: Question,
): { readonly answer: Promise<Uint8Array | undefined>; readonly forget: () => void } {
  const id = hop.nextQuery++;
  const { promise: answer, resolve } = withResolver<Uint8Array | undefined>();
  const pending: PendingQuery = { question, pieces: [], bytes: 0, resolve };
  hop.queries.set(id, pending);
  if (hop.isReady) sendQuery(hop, id, pending);
  return { answer, forget: () => settleQuery(hop, id, undefined) };
}

/** The hop is back: repeats unanswered calls. */
export function repeatCalls(hop: HopState): void {
  for (const [id, pending] of hop.writes) sendWrite(hop, id, pending);
  for (const [id, pending] of hop.queries) sendQuery(hop, id, pending);
}

/** Fails all pending calls. */
export function giveUpCalls(hop: HopState): void {
  for (const pending of hop.writes.values()) pending.resolve({ type: "fault" });
  hop.writes.clear();
  for (const id of [...hop.queries.keys()]) settleQuery(hop, id, undefined);
}

/** The bridge has typed or refused a program's input. */
export function settleWrite(hop: HopState, outcome: Exclude<WriteOutcome, { type: "fault" }>): void {
  const pending = hop.writes.get(outcome.client);
  hop.writes.delete(outcome.client);
  pending?.resolve(outcome);
}

/** Adds a piece of an answer. Keeps a view of `bytes`, which must not change. */
export function addAnswerPiece(hop: HopState, id: number, bytes: Uint8Array): void {
  const pending = hop.queries.get(id);
  if (pending === undefined) return;
  pending.bytes += bytes.length;
  if (pending.bytes > MAX_ANSWER_BYTES) settleQuery(hop, id, undefined);
  else pending.pieces.push(bytes);
}

/** All pieces have arrived; not `isOk`: there is no answer. */
export function finishAnswer(hop: HopState, id: number, isOk: boolean): void {
  const pending = hop.queries.get(id);
  if (pending === undefined) return;
  settleQuery(hop, id, isOk ? joined(pending.pieces) : undefined);
}

function sendWrite(hop: HopState, id: string, pending: PendingWrite): void {
  const again = pending.command === undefined ? undefined : true;
  // Fix the write's start once: input that an earlier hop may have delivered is counted by now.
  pending.command ??= { ...pending.spec, client: id, at: pending.spec.at ?? hop.session?.receivedOf(id) ?? 0 };
  sendCommand(hop, { type: "write", ...pending.command, ...defined({ again }) });
}

function sendQuery(hop: HopState, id: number, pending: PendingQuery): void {
  pending.pieces = [];
  pending.bytes = 0;
  sendCommand(hop, { type: "ask", id, ...pending.question });
}

function settleQuery(hop: HopState, id: number, text: Uint8Array | undefined): void {
  const pending = hop.queries.get(id);
  hop.queries.delete(id);
  pending?.resolve(text);
}

function withResolver<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}
