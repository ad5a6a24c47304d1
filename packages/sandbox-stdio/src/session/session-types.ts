// Options of a session and of an attach, and the calls a session makes to its shell.

import type { InputEntry } from "../input/input-queue.ts";
import type { OutputLog } from "../output/output-log.ts";
import type { Snapshot } from "../output/snapshot.ts";
import type { SnapshotSource } from "../output/snapshot-requests.ts";
import type { OutputObserver } from "../output/window.ts";
import type { Answerer } from "../terminal/answerer-history.ts";
import type { Attempt } from "../wire/attempt.ts";
import type { SignalName } from "../wire/constants.ts";
import type { AskAnswer, Asked, ParticipantKind } from "../wire/control.ts";
import type { PaneOrder } from "../wire/pane-messages.ts";
import type { Delivery, Mode, Role } from "../wire/terms.ts";
import type { ClientRecord, Party, TerminalSize } from "./client-record.ts";
import type { InputRecorder } from "./input-recorder.ts";

/** Facts that never change while a process lives. */
export type SessionFacts = {
  /** Names as the client knows them. */
  readonly sandbox: string;
  readonly session: string;
  readonly incarnation: string;
  readonly tty: boolean;
  readonly mode: Mode;
  /** While no client is attached, a `live` process runs on, and a `lossless` one is held. */
  readonly delivery: Delivery;
  /** Whether the process decides its size, as a pane does; the session then only asks for one. */
  readonly tellsSize?: boolean;
  /** Most input of one client that may wait at the bridge (I3b). Absent from an older bridge: the default. */
  readonly inputWindow?: number;
  /** Size of the bridge's log. Absent: the default. */
  readonly logBytes?: number | undefined;
};

/** `ifLong`: if the log is incomplete, or too long to replay. */
export type StartScreen = "always" | "ifLong";

export type AttachRequest = {
  readonly id: string;
  /** The requested name; a similar one that is taken gets a number. */
  readonly name: string;
  readonly role: Role;
  /** Absent: a person. */
  readonly kind?: ParticipantKind | undefined;
  readonly isAdmin: boolean;
  /** Absent: live on a PTY, lossless on pipes. A viewer's is always live. */
  readonly delivery?: Delivery | undefined;
  /** Whether it speaks `stdio.v1`: acknowledges output, and numbers its input. */
  readonly acknowledges: boolean;
  /** Whether no other client may type while it holds the keyboard. Absent: false. */
  readonly holdsAlone?: boolean | undefined;
  /** When it starts with a snapshot. Absent: `ifLong` if it acknowledges, else never. */
  readonly startsWithScreen?: StartScreen | undefined;
  /** Whether it can reconnect as itself. Absent: true. */
  readonly canResume?: boolean;
  readonly size?: TerminalSize;
  /** Requested start of output. Absent: the screen of a PTY, or all held output of pipes. */
  readonly offset?: number;
  /** Output before this is processed; the rest up to `offset` has only arrived. Absent: all is processed. */
  readonly acked?: number;
  /** Where its input continues, or `new`: after all that it ever sent. Absent: after the taken input. */
  readonly stdin?: number | "new";
  /** Most unacknowledged input it can keep. Absent: {@link MAX_UNACKED_INPUT_BYTES}. */
  readonly keeps?: number;
  /** Number of this connection, if the client numbers them. */
  readonly attempt?: Attempt;
  /** Opaque id of a person, whose windows don't limit each other's size (K4a). Absent: the client counts alone. */
  readonly person?: string | undefined;
  /** Opaque id of a login under one name: clients with the same are one person's windows (L11b). Absent: no other client is its person's. */
  readonly login?: string | undefined;
  /** Its person's name as the session object has given it, at the bridge. */
  readonly personName?: string | undefined;
  /** Clients of one share link, which has its own limit. */
  readonly party?: Party;
  /** Whether it may use a reserved place. Absent: true. */
  readonly mayUseKept?: boolean;
  /** Whether it answers terminal queries. Absent: true. */
  readonly answersQueries?: boolean;
  /** Whether it has proved to be the client `id`. */
  readonly isResume: boolean;
  /** Its proof for the next attach, sent in `hello`. */
  readonly resume: string;
};

/** A program's ask for a person within the last hour; `reason` is "" once it has ended. Structured-cloneable. */
export type Ask = Asked & {
  /** The writer's client id. */
  readonly by: string;
  /** Opaque id of the program's owner. */
  readonly asker: string;
  readonly atMs: number;
  /** The client that has taken it. */
  readonly takenBy?: string | undefined;
  /** Absent while the ask is open. */
  readonly answer?: AskAnswer;
};

export type AskRequest = Asked & Pick<Ask, "asker">;
/** How an ask changed. */
export type AskEvent = "asked" | "taken" | "exited" | AskAnswer;

/** A program that writes by calls. Its id derives from a person, an issuer and a name chosen by the caller. */
export type ProgramRequest = { readonly id: string; readonly name: string; readonly isAdmin: boolean };

export type AttachResult =
  | { readonly ok: true; readonly client: ClientRecord }
  | { readonly ok: false; readonly code: number; readonly reason: string; readonly retry: "never" | "after" };

/** Towards the process: the process itself, or the inner hop. */
export interface Upstream {
  /** A client has attached or reattached. */
  attached(client: ClientRecord): void;
  /** The client's input queue has a new last entry. */
  input(client: ClientRecord, entry: InputEntry): void;
  signal(client: ClientRecord, signal: SignalName): void;
  /** `process`: sets the PTY's size. `relay`: reports the size of this client's window, and the bridge decides. */
  resize(client: ClientRecord | undefined, size: TerminalSize): void;
  kill(client: ClientRecord): void;
  /** A pane command from a client that may type. */
  pane(client: ClientRecord, order: PaneOrder): void;
  /** The client has processed more output, or its window has changed. */
  acked(client: ClientRecord): void;
  departed(client: ClientRecord, how: "left" | "vanished"): void;
  holder(id: string): void;
  /**
   * Another client answers terminal queries from an offset on; "": the bridge.
   * @returns Whether the bridge will confirm it: see `RelaySession.bridgeHears`.
   */
  answerer(answerer: Answerer): boolean;
}

export type SessionOptions = {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly upstream: Upstream;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** Whether sending a frame copies it at once, so that its memory can be reused. */
  readonly reuseFrames: boolean;
  /** Most clients present at one time. */
  readonly maxClients?: number;
  /** How many of these places are reserved for clients that may use them. Absent: 0. */
  readonly keptPlaces?: number;
  /** Bytes per second to a client that can't acknowledge. */
  readonly plainBytesPerSecond?: number;
  readonly holder?: string;
  /** Stored by an earlier life of this session. */
  readonly asks?: readonly Ask[] | undefined;
  /** The first driver that ever attached, if any. */
  readonly creator?: string;
  /** Whether any client has had the keyboard. Absent: true if there is a creator. */
  readonly hasBeenHeld?: boolean;
  /** Whether the process waits for its first client. Absent: true. False for a process that a program started. */
  readonly isAwaited?: boolean;
  /** Makes snapshots of a PTY's screen for `SessionCore.snapshotReady`. Absent: no snapshots. */
  readonly screen?: SnapshotSource | undefined;
  /** The stored final screen of an ended process. */
  readonly lastScreen?: Snapshot | undefined;
  /** Records all input; input is acknowledged only once stored. Reports by {@link RelaySession.recorded}. */
  readonly recorder?: InputRecorder | undefined;
  readonly observer?: OutputObserver | undefined;
  /** Bridge only: bytes per second that the process may write while it has no reader. Absent: no limit. */
  readonly unattendedBytesPerSecond?: number | undefined;
};
