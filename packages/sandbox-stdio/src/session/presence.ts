// The phases of a client's presence. A phase holds only facts valid in it: without a connection a client has no reader,
// and only a greeted client has input to acknowledge.

import type { OutputPeer, OutputReader } from "../output/output-reader.ts";
import type { ServerMessage } from "../wire/control.ts";

/** The direct connection of a client. */
export interface Peer extends OutputPeer {
  send(message: ServerMessage): void;
  /** Whether the client itself paused its output, so that being unwritable is not a fault. */
  readonly isPaused?: boolean;
  /** `bytes` of new input were accepted or refused; duplicates are not reported. */
  typed?(bytes: number, isAccepted: boolean, nowMs: number): void;
  /** The client has been sent `hello`, and its snapshot if it starts with one. */
  greeted?(): void;
  /** Sends `bye` if the dialect has it, and closes. Nothing is sent afterwards. */
  bye(code: number, reason: string, retry: "never" | "now" | "after", seconds?: number): void;
  /** The exit has been sent: closes with 1000. */
  finish(): void;
}

/** The connection that carries all clients of the session object. */
export interface RemotePeer {
  /** Sends to the client with this id. */
  tell(clientId: string, message: ServerMessage): void;
}

/** Progress of input acknowledgements on one connection. */
export type InputAcks = {
  /** Input before this offset is acknowledged. */
  sent: number;
  /** Latest time of the next acknowledgement. */
  dueMs: number | undefined;
};

/** Connected but not greeted: waits for a snapshot, or for the bridge to hold the process. */
export type Opening = {
  readonly phase: "opening";
  readonly peer: Peer;
  /** Start of its output if no snapshot arrives. */
  readonly acked: number;
  readonly windowBytes: number;
  /** Set while it waits for the bridge: since when, and how to greet it. */
  hold?: { readonly sinceMs: number; readonly greet: () => void };
};

/** Has a reader. While `greeting`, its `hello` is not yet sent, and nothing else is; it may already be the answerer. */
export type Greeted = {
  phase: "greeting" | "greeted";
  readonly peer: Peer;
  readonly reader: OutputReader;
  /** Start offset of this connection's input, as in its `hello`. */
  readonly inputStart: number;
  readonly inputAcks: InputAcks;
};

/** Attached to the session object, which sends it its output. */
export type Remote = {
  readonly phase: "remote";
  readonly peer: RemotePeer;
  acked: number;
  windowBytes: number;
  readonly inputAcks: InputAcks;
};

/** A program that writes by calls, present for a while after each. It has no connection. */
export type Calling = {
  readonly phase: "calling";
  /** Number of pending calls, and when it last changed. */
  readonly calls: number;
  readonly sinceMs: number;
  readonly acked: number;
};

/** Lost its connection; within its grace period. */
export type Vanished = {
  readonly phase: "vanished";
  readonly sinceMs: number;
  readonly acked: number;
  readonly windowBytes: number;
  /** Whether it leaves once the process has taken its input. */
  readonly isLeaving: boolean;
  /** Grace period, if not the default. */
  readonly graceMs?: number;
};

export type Presence =
  | Opening
  | Greeted
  | Remote
  | Calling
  | Vanished
  /** Its grace period has passed. Its input position is kept, so that nothing is taken twice if it returns. */
  | { readonly phase: "absent"; readonly acked: number }
  /** Left or forgotten: it can't be resumed, and gets no messages. */
  | { readonly phase: "gone" };
