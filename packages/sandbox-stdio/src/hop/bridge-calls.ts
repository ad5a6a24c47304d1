// The calls of programs to the bridge: to type, and to answer questions. A call is repeated over each new inner hop until it is
// answered, or given up.

import type { ClientRecord } from "../session/client-record.ts";
import { MIB } from "../wire/constants.ts";
import { defined } from "../wire/fields.ts";
import type { InnerCommand, InnerMessage, Question } from "../wire/inner-messages.ts";
import type { WriteCommand } from "../wire/write-messages.ts";

/** The outcome of a program's call to *write*. `fault`: the hop, or the session, was given up before it was known. */
export type WriteOutcome =
  | Extract<InnerMessage, { type: "written" }>
  | Extract<InnerMessage, { type: "unwritten" }>
  | { readonly type: "fault" };

/** As {@link WriteCommand}; without `at` it goes behind the received input. */
export type WriteWish = Omit<WriteCommand, "client" | "at" | "again"> & { readonly at?: number | undefined };

type PendingWrite = {
  readonly wish: WriteWish;
  command: WriteCommand | undefined;
  resolve(outcome: WriteOutcome): void;
};
type PendingAsk = {
  readonly question: Question;
  pieces: Uint8Array[];
  bytes: number;
  resolve(text?: Uint8Array): void;
};

/** A longer answer is refused. */
const MAX_ANSWER_BYTES = 4 * MIB;

export interface BridgeCallsPorts {
  /** Whether the bridge can be told now. */
  isReady(): boolean;
  say(command: InnerCommand): void;
  /** How much of this client's input has been received. */
  receivedOf(clientId: string): number;
}

export class BridgeCalls {
  readonly #ports: BridgeCallsPorts;
  /** One for each program: the next waits for its answer. */
  readonly #writes = new Map<string, PendingWrite>();
  readonly #asks = new Map<number, PendingAsk>();
  #nextAsk = 1;

  constructor(ports: BridgeCallsPorts) {
    this.#ports = ports;
  }

  /** @see InnerClient.write */
  write(
    client: ClientRecord,
    wish: WriteWish,
  ): { readonly answer: Promise<WriteOutcome>; readonly withdraw: () => void } {
    if (this.#writes.has(client.id)) throw new Error("Cannot write: another write of this program is not answered");
    let resolve: (outcome: WriteOutcome) => void = () => undefined;
    const answer = new Promise<WriteOutcome>((resolved) => {
      resolve = resolved;
    });
    const pending: PendingWrite = { wish, command: undefined, resolve };
    this.#writes.set(client.id, pending);
    if (this.#ports.isReady()) this.#sayWrite(client.id, pending);
    const withdraw = () => {
      if (pending.command !== undefined || this.#writes.get(client.id) !== pending) return;
      this.#writes.delete(client.id);
      resolve({ type: "fault" });
    };
    return { answer, withdraw };
  }

  /** @see InnerClient.ask */
  ask(question: Question): { readonly answer: Promise<Uint8Array | undefined>; readonly forget: () => void } {
    const id = this.#nextAsk++;
    const answer = new Promise<Uint8Array | undefined>((resolve) => {
      const pending: PendingAsk = { question, pieces: [], bytes: 0, resolve };
      this.#asks.set(id, pending);
      if (this.#ports.isReady()) this.#sayAsk(id, pending);
    });
    return { answer, forget: () => this.#conclude(id, undefined) };
  }

  /** The hop is back: repeats the calls that are not answered. */
  repeat(): void {
    for (const [id, pending] of this.#writes) this.#sayWrite(id, pending);
    for (const [id, pending] of this.#asks) this.#sayAsk(id, pending);
  }

  /** No call is answered any more. */
  giveUp(): void {
    for (const pending of this.#writes.values()) pending.resolve({ type: "fault" });
    this.#writes.clear();
    for (const id of [...this.#asks.keys()]) this.#conclude(id, undefined);
  }

  /** The bridge has typed a program's input, or refused it. */
  concludeWrite(outcome: Exclude<WriteOutcome, { type: "fault" }>): void {
    const pending = this.#writes.get(outcome.client);
    this.#writes.delete(outcome.client);
    pending?.resolve(outcome);
  }

  /** A piece of an answer has come. Keeps a view of `bytes`, which must stay as they are. */
  addPiece(id: number, bytes: Uint8Array): void {
    const pending = this.#asks.get(id);
    if (pending === undefined) return;
    pending.bytes += bytes.length;
    if (pending.bytes > MAX_ANSWER_BYTES) this.#conclude(id, undefined);
    else pending.pieces.push(bytes);
  }

  /** The last piece has come; not `isOk`: there is no answer. */
  concludeAsk(id: number, isOk: boolean): void {
    const pending = this.#asks.get(id);
    if (pending === undefined) return;
    const whole = new Uint8Array(isOk ? pending.bytes : 0);
    let at = 0;
    for (const piece of isOk ? pending.pieces : []) {
      whole.set(piece, at);
      at += piece.length;
    }
    this.#conclude(id, isOk ? whole : undefined);
  }

  #sayWrite(id: string, pending: PendingWrite): void {
    const again = pending.command === undefined ? undefined : true;
    // Its beginning is settled once: input that an earlier hop may have brought through counts by now.
    pending.command ??= { ...pending.wish, client: id, at: pending.wish.at ?? this.#ports.receivedOf(id) };
    this.#ports.say({ type: "write", ...pending.command, ...defined({ again }) });
  }

  #sayAsk(id: number, pending: PendingAsk): void {
    pending.pieces = [];
    pending.bytes = 0;
    this.#ports.say({ type: "ask", id, ...pending.question });
  }

  #conclude(id: number, text: Uint8Array | undefined): void {
    const pending = this.#asks.get(id);
    this.#asks.delete(id);
    pending?.resolve(text);
  }
}
