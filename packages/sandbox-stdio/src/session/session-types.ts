// The options of a session and of an attach, and a session's calls to the shell that carries it out.

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

/** The facts that do not change while a process lives. */
export type SessionFacts = {
  /** Names as the client knows them. */
  readonly sandbox: string;
  readonly session: string;
  readonly incarnation: string;
  readonly tty: boolean;
  readonly mode: Mode;
  /** If no client is attached, a `live` process runs on, and a `lossless` one is held. */
  readonly delivery: Delivery;
  /** Whether the process itself says which size it has, as a pane does: the session only asks for one. */
  readonly tellsSize?: boolean;
  /** The most of one client's input that may wait beside the process (I3b). Absent from an older bridge: as little as of any client. */
  readonly inputWindow?: number;
  /** The size of the bridge's log. Absent: the usual. */
  readonly logBytes?: number | undefined;
};

/** `ifLong`: where the log does not hold everything, or more than is replayed. */
export type StartScreen = "always" | "ifLong";

export type AttachRequest = {
  readonly id: string;
  /** As it is asked for: another client that has one like it goes first. */
  readonly name: string;
  readonly role: Role;
  /** Absent: a person. */
  readonly kind?: ParticipantKind | undefined;
  readonly isAdmin: boolean;
  /** Absent: live on a PTY, lossless on pipes. A viewer's is always live. */
  readonly delivery?: Delivery | undefined;
  /** Whether it speaks `stdio.v1`: it acknowledges, and its input is numbered. */
  readonly acknowledges: boolean;
  /** Whether it relies on typing alone while it holds the keyboard. Absent: it does not. */
  readonly holdsAlone?: boolean | undefined;
  /** When it starts with the screen. Absent: `ifLong` if it acknowledges, else never. */
  readonly startsWithScreen?: StartScreen | undefined;
  /** Whether it can come back as itself. Absent: it can. */
  readonly canResume?: boolean;
  readonly size?: TerminalSize;
  /** The offset it asks for; absent: on a PTY the screen, on pipes all that is held. */
  readonly offset?: number;
  /** Up to where it has dealt with what came before `offset`. Absent: with all of it. */
  readonly acked?: number;
  /** Where its own input goes on, or `new`: after all that it ever sent. Absent: after the input that has been taken. */
  readonly stdin?: number | "new";
  /** How much unacknowledged input it can keep. Absent: {@link MAX_UNACKED_INPUT_BYTES}. */
  readonly keeps?: number;
  /** Which of its connections this is, if it says so. */
  readonly attempt?: Attempt;
  /** The person whose windows don't limit each other's size (K4a): opaque. Absent: it counts by itself. */
  readonly person?: string | undefined;
  /** The clients that come by one link: only so many may be here at one time. */
  readonly party?: Party;
  /** Whether it may have one of the places that are kept. Absent: it may. */
  readonly mayUseKept?: boolean;
  /** Whether it answers the queries of a terminal. Absent: it does. */
  readonly answersQueries?: boolean;
  /** Whether it has shown that it is the client `id` coming back. */
  readonly isResume: boolean;
  /** Its proof for the next time, to be told in `hello`. */
  readonly resume: string;
};

/** A program's ask for a person, of the last hour; `reason` is "" once it is over. Can be copied by structure. */
export type Ask = Asked & {
  /** The writer's client. */
  readonly by: string;
  /** The person whose program it is: opaque. */
  readonly asker: string;
  readonly atMs: number;
  /** The client that has taken it. */
  readonly takenBy?: string | undefined;
  /** Absent: it is open. */
  readonly answer?: AskAnswer;
};

export type AskRequest = Asked & Pick<Ask, "asker">;
/** What became of an ask. */
export type AskEvent = "asked" | "taken" | "exited" | AskAnswer;

/** A program that writes by calls: a person, an issuer and a name of the caller's own choice make the id. */
export type ProgramRequest = { readonly id: string; readonly name: string; readonly isAdmin: boolean };

export type AttachResult =
  | { readonly ok: true; readonly client: ClientRecord }
  | { readonly ok: false; readonly code: number; readonly reason: string; readonly retry: "never" | "after" };

/** Towards the process: the process itself, or the inner hop. */
export interface Upstream {
  /** A client is here, or here again. */
  attached(client: ClientRecord): void;
  /** The client's input queue has a new entry, at its end. */
  input(client: ClientRecord, entry: InputEntry): void;
  signal(client: ClientRecord, signal: SignalName): void;
  /** `process`: the size that the PTY is to have. `relay`: the size of this client's window, for the bridge to decide. */
  resize(client: ClientRecord | undefined, size: TerminalSize): void;
  kill(client: ClientRecord): void;
  /** An order for a pane from a client that may type. */
  pane(client: ClientRecord, order: PaneOrder): void;
  /** The client has dealt with more output, or its window has changed. */
  acked(client: ClientRecord): void;
  departed(client: ClientRecord, how: "left" | "vanished"): void;
  holder(id: string): void;
  /**
   * Another client answers terminal queries from an offset on. If no client does (""), the bridge answers.
   * @returns Whether it is told when the bridge has heard of that: see `RelaySession.bridgeHears`.
   */
  answerer(answerer: Answerer): boolean;
}

export type SessionOptions = {
  readonly facts: SessionFacts;
  readonly log: OutputLog;
  readonly upstream: Upstream;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  /** Whether sending a frame copies it at once, so that its memory may be used again. */
  readonly reuseFrames: boolean;
  /** Clients that may be here at one time. */
  readonly maxClients?: number;
  /** How many of these places are for those clients alone that may use them. Absent: none. */
  readonly keptPlaces?: number;
  /** The pace of a client that acknowledges nothing. */
  readonly plainBytesPerSecond?: number;
  readonly holder?: string;
  /** As an earlier life of this session has stored them. */
  readonly asks?: readonly Ask[] | undefined;
  /** The first driver that ever attached, if one has. */
  readonly creator?: string;
  /** Whether a client has had the keyboard. Absent: if there was a first driver, it had. */
  readonly hasBeenHeld?: boolean;
  /** Whether the process waits for its first client. Absent: it does. A process that a program started does not wait. */
  readonly isAwaited?: boolean;
  /** Makes snapshots of a PTY's screen, for `SessionCore.snapshotReady`. Absent: there are no snapshots. */
  readonly screen?: SnapshotSource | undefined;
  /** The screen of a process that had ended, as it was stored. */
  readonly lastScreen?: Snapshot | undefined;
  /** Keeps a record of all input; input that it has not stored is not acknowledged. Tells by {@link RelaySession.recorded}. */
  readonly recorder?: InputRecorder | undefined;
  readonly observer?: OutputObserver | undefined;
  /** Beside the process: how many bytes a second it may write while it has no reader. Absent: no limit. */
  readonly unattendedBytesPerSecond?: number | undefined;
};
