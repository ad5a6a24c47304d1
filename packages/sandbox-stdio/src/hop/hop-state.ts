// The state of the session object's end of the inner hop. Functions of this folder read and change it; outside code goes through
// `InnerClient`.

import type { Snapshot } from "../output/snapshot.ts";
import type { Frame } from "../server/dialect.ts";
import type { Pressure } from "../session/backpressure.ts";
import type { ClientRecord } from "../session/client-record.ts";
import type { RelaySession } from "../session/relay-session.ts";
import type { InnerCommand, InnerMessage, Question } from "../wire/inner-messages.ts";
import type { WriteCommand } from "../wire/write-messages.ts";
import { HopAllowance } from "./hop-allowance.ts";

export type InnerHello = Extract<InnerMessage, { type: "hello" }>;

export interface InnerSocket {
  /** The socket owns the frame from here on and may release its memory. */
  send(frame: Frame): void;
}

export interface InnerClientEvents {
  /** The bridge has greeted: make the session, or find it by its incarnation. */
  hello(hello: InnerHello): void;
  /** The bridge closes, or sent a malformed message (1008): the connection is useless. */
  bye(code: number, reason: string): void;
  /** The bridge keeps the clients' positions and calls on output, so the object may leave memory. */
  parked?(): void;
  /** The bridge refuses one client. */
  clientBye(client: ClientRecord, code: number, reason: string): void;
}

/** Outcome of a program's *write*. `fault`: the hop or session was given up before the outcome was known. */
export type WriteOutcome =
  | Extract<InnerMessage, { type: "written" }>
  | Extract<InnerMessage, { type: "unwritten" }>
  | { readonly type: "fault" };

/** Like {@link WriteCommand}; without `at` the bytes follow the received input. */
export type WriteSpec = Omit<WriteCommand, "client" | "at" | "again"> & { readonly at?: number | undefined };

export type PendingWrite = {
  readonly spec: WriteSpec;
  command: WriteCommand | undefined;
  resolve(outcome: WriteOutcome): void;
};

export type PendingQuery = {
  readonly question: Question;
  pieces: Uint8Array[];
  bytes: number;
  resolve(text?: Uint8Array): void;
};

export type HopState = {
  readonly events: InnerClientEvents;
  session: RelaySession | undefined;
  socket: InnerSocket | undefined;
  /** Whether the bridge knows the session's clients on this connection. */
  isReady: boolean;
  /** Whether the bridge sent a malformed message: later messages on this connection are ignored. */
  isFaulty: boolean;
  /** Numbers that identify clients in input frames on this connection. */
  readonly slots: Map<string, number>;
  nextSlot: number;
  /** Describes the next snapshot frame. */
  snapshot: Omit<Snapshot, "bytes"> | undefined;
  allowance: HopAllowance;
  /** Whether the last command sent was `park`. */
  isParkLast: boolean;
  /** At most one per program: the next waits for its answer. */
  readonly writes: Map<string, PendingWrite>;
  readonly queries: Map<number, PendingQuery>;
  nextQuery: number;
  /** Commands that the bridge has not answered, oldest first: pane orders by client, callbacks, and undefined for each ping. */
  readonly unanswered: (ClientRecord | (() => void) | undefined)[];
  readonly acks: RelayedAcks;
};

/** What the bridge knows of the clients' acknowledgements: see relayed-acks.ts. */
export type RelayedAcks = {
  /** Offset and window last sent for each client. */
  readonly sent: Map<string, { readonly offset: number; readonly window: number }>;
  /**
   * Lossless drivers for which less than the real values were sent (W9a). Resend the real ones once the pressure ends, or the
   * bridge waits for a client that has nothing left to acknowledge.
   */
  readonly reduced: Map<string, ClientRecord>;
  /** Flow leader and pressure at the last comparison. */
  leader: string | undefined;
  pressure: Pressure;
};

export function newHop(events: InnerClientEvents): HopState {
  return {
    events,
    session: undefined,
    socket: undefined,
    isReady: false,
    isFaulty: false,
    slots: new Map(),
    nextSlot: 0,
    snapshot: undefined,
    allowance: new HopAllowance(0),
    isParkLast: false,
    writes: new Map(),
    queries: new Map(),
    nextQuery: 1,
    unanswered: [],
    acks: { sent: new Map(), reduced: new Map(), leader: undefined, pressure: "none" },
  };
}

export function sendCommand(hop: HopState, command: InnerCommand): void {
  if (command.type !== "ping") hop.isParkLast = false;
  hop.socket?.send(JSON.stringify(command));
}
