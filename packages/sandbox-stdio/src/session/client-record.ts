// What a session knows of one client: who it is, how far its output and input have come, and whether it is there.

import { InputFeed } from "../input/feed.ts";
import type { InputQueue } from "../input/input-queue.ts";
import type { OutputPeer, OutputReader } from "../output/output-reader.ts";
import type { Paced } from "../output/pacing.ts";
import type { LastWrite } from "../programs/program-writes.ts";
import type { Attempt } from "../wire/attach-query.ts";
import type { Participant, ParticipantKind } from "../wire/control.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import type { Delivery, Role } from "../wire/terms.ts";
import type { Budget } from "./budget.ts";

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** Clients that are counted together. */
export type Party = { readonly id: string; readonly maxClients: number };

/** The connection of a client that is sent to directly. */
export interface Peer extends OutputPeer {
  /** Whether the client itself wants nothing sent for now: that it can't be written to is not its fault. */
  readonly isPaused?: boolean;
  /** So many bytes of its input were accepted, or refused; those that had come before are not told again. */
  typed?(bytes: number, isAccepted: boolean, nowMs: number): void;
  /** Says `bye`, where the client's dialect can, and closes. Nothing is sent to it afterwards. */
  bye(code: number, reason: string, retry: "never" | "now" | "after", seconds?: number): void;
  /** The exit has been sent: closes with 1000. */
  finish(): void;
}

/** How a client is reached: by a connection of its own, through the inner hop, or not at all just now. */
export type Reach =
  | { readonly kind: "direct"; readonly peer: Peer; readonly reader: OutputReader }
  | { readonly kind: "remote"; acked: number; windowBytes: number }
  | { readonly kind: "none"; readonly acked: number; readonly windowBytes: number };

/**
 * `attached`; `vanished` without leaving, and within its grace; `absent` since the grace has passed: only its place in
 * the input is remembered, so that nothing is taken twice when it comes back after all.
 */
export type Presence =
  | { readonly phase: "attached" }
  | { readonly phase: "vanished"; readonly sinceMs: number }
  | { readonly phase: "absent" };

export class ClientRecord implements Paced {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly kind: ParticipantKind;
  readonly isAdmin: boolean;
  readonly delivery: Delivery;
  readonly acknowledges: boolean;
  /** Whether it alone types while it holds the keyboard, whatever the session's mode. */
  readonly holdsAlone: boolean;
  /** Whether it can come back as itself: one that can't has left when its connection ends. */
  readonly canResume: boolean;
  /** The party that it came with, by its id. */
  readonly party: string | undefined;
  readonly mayUseKept: boolean;
  /** Position in the order of arrival. */
  readonly order: number;
  readonly input: InputQueue;
  /** What it has sent and `input` has no room for yet; always empty for a client that acknowledges. */
  feed: InputFeed = new InputFeed();
  /** Its connection has ended, and it goes when the process has taken what it sent. */
  isLeaving = false;
  size: TerminalSize | undefined;
  /** A program's last write, so that the same one, sent again over a new hop, is answered in the same way. */
  lastWrite: LastWrite | undefined;
  /** Calls of a program that are under way. */
  callsUnderWay = 0;
  /** Its newest connection, as it has numbered it. */
  attempt: Attempt | undefined;
  presence: Presence = { phase: "attached" };
  /** What it may still say that nobody needs, over all its connections; undefined where its connection does not ask. */
  budget: Budget | undefined;
  reach: Reach;
  /** Whether it ever sent an ack, input or an end of input: only then is its vanishing given a grace. */
  isActive = false;
  /** Whether it has been sent its `hello`, which stands before everything else and holds what was said until then. */
  isGreeted = false;
  /** Whether it is sent, or about to be, what it may have to answer. */
  canAnswer = false;
  /** Where the input of its present connection is numbered from, as its `hello` says. */
  inputStart: number;
  /** Input up to here has been acknowledged to the client. */
  inputAckSent: number;
  /** When the next acknowledgement of input is due at the latest. */
  inputAckDueMs: number | undefined;

  constructor(
    who: {
      id: string;
      name: string;
      role: Role;
      kind?: ParticipantKind | undefined;
      isAdmin: boolean;
      delivery: Delivery;
      acknowledges: boolean;
      holdsAlone?: boolean | undefined;
      canResume?: boolean;
      party?: Party;
      mayUseKept?: boolean;
    },
    order: number,
    input: InputQueue,
    reach: Reach,
  ) {
    this.id = who.id;
    this.name = who.name;
    this.role = who.role;
    this.kind = who.kind ?? "person";
    this.isAdmin = who.isAdmin;
    this.delivery = who.delivery;
    this.acknowledges = who.acknowledges;
    this.holdsAlone = who.holdsAlone ?? false;
    this.canResume = who.canResume ?? true;
    this.party = who.party?.id;
    this.mayUseKept = who.mayUseKept ?? true;
    this.order = order;
    this.input = input;
    this.inputStart = input.taken;
    this.inputAckSent = input.taken;
    this.reach = reach;
  }

  /** Whether it writes by calls and has no connection of its own. */
  get isProgram(): boolean {
    return this.kind === "program";
  }

  get isPresent(): boolean {
    return this.presence.phase !== "absent";
  }

  get acked(): number {
    return this.reach.kind === "direct" ? this.reach.reader.flow.acked : this.reach.acked;
  }

  get windowBytes(): number {
    return this.reach.kind === "direct" ? this.reach.reader.flow.bytes : this.reach.windowBytes;
  }

  /** The connection, where it has one of its own. */
  get peer(): Peer | undefined {
    return this.reach.kind === "direct" ? this.reach.peer : undefined;
  }

  get participant(): Participant {
    return { id: this.id, name: this.name, role: this.role, kind: this.kind };
  }
}

/** What is kept of a client beyond this life of its session: its place in the input above all. */
export function knownOf(client: ClientRecord): KnownClient {
  const { eof, taken, received } = client.input;
  const { id, role, kind, name, delivery, acknowledges } = client;
  return {
    id,
    role,
    kind,
    name,
    delivery,
    acknowledges,
    stdin: taken,
    ...(received === taken ? {} : { received }),
    ...(eof === undefined ? {} : { eof }),
    acked: client.acked,
    isAbsent: client.presence.phase === "absent",
  };
}
