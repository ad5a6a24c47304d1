// How a client is here, or is not. A phase holds only what is true in it: a client without a connection has no reader,
// and only one that was greeted has input to acknowledge.

import type { OutputPeer, OutputReader } from "../output/output-reader.ts";
import type { ServerMessage } from "../wire/control.ts";

/** The connection of a client that is sent to directly. */
export interface Peer extends OutputPeer {
  /** Whether the client itself wants nothing sent for now: that it can't be written to is not its fault. */
  readonly isPaused?: boolean;
  /** So many bytes of its input were accepted, or refused; those that had come before are not told again. */
  typed?(bytes: number, isAccepted: boolean, nowMs: number): void;
  /** It has been sent `hello`, and its snapshot if it starts with one. */
  greeted?(): void;
  /** Says `bye`, where the client's dialect can, and closes. Nothing is sent to it afterwards. */
  bye(code: number, reason: string, retry: "never" | "now" | "after", seconds?: number): void;
  /** The exit has been sent: closes with 1000. */
  finish(): void;
}

/** The connection that carries all clients of the inner hop's far end. */
export interface RemotePeer {
  /** Tells its client with this id. */
  tell(clientId: string, message: ServerMessage): void;
}

/** How far one connection has acknowledged its client's input. */
export type InputAcks = {
  /** Input before this offset is acknowledged. */
  sent: number;
  /** When the next acknowledgement is due at the latest. */
  dueMs: number | undefined;
};

/** Connected, and not greeted yet: it waits for a snapshot, or until the bridge holds the process for it. */
export type Opening = {
  readonly phase: "opening";
  readonly peer: Peer;
  /** Where its output starts if no snapshot comes. */
  readonly acked: number;
  readonly windowBytes: number;
  /** It waits for the bridge since then, and is greeted by this. */
  hold?: { readonly sinceMs: number; readonly greet: () => void };
};

/** It has a reader. `greeting` lasts until its `hello` is out: before that it is told nothing else, but may be the answerer. */
export type Greeted = {
  phase: "greeting" | "greeted";
  readonly peer: Peer;
  readonly reader: OutputReader;
  /** Where the input of this connection is numbered from, as its `hello` says. */
  readonly inputStart: number;
  readonly inputAcks: InputAcks;
};

/** Attached at the far end of the inner hop, which sends it its output. */
export type Remote = {
  readonly phase: "remote";
  readonly peer: RemotePeer;
  acked: number;
  windowBytes: number;
  readonly inputAcks: InputAcks;
};

/** A program that writes by calls: here for a while after each. It has no connection. */
export type Calling = {
  readonly phase: "calling";
  /** Calls under way, and since when there were no more or fewer of them. */
  readonly calls: number;
  readonly sinceMs: number;
  readonly acked: number;
};

/** Lost its connection, and is within its grace. */
export type Vanished = {
  readonly phase: "vanished";
  readonly sinceMs: number;
  readonly acked: number;
  readonly windowBytes: number;
  /** It goes when the process has taken its input. */
  readonly isLeaving: boolean;
  /** How long its place is kept, if that is not the usual time. */
  readonly graceMs?: number;
};

export type Presence =
  | Opening
  | Greeted
  | Remote
  | Calling
  | Vanished
  /** Its grace has passed. Its place in the input is remembered, so that nothing is taken twice if it comes back. */
  | { readonly phase: "absent"; readonly acked: number }
  /** It left, or was forgotten: it can't be resumed, and nothing is told to it. */
  | { readonly phase: "gone" };
