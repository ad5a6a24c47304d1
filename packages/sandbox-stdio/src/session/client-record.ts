// A session's knowledge of one client: its identity, how far its output and input have come, and how it is here. There is one
// record for each client, over all its connections.

import { InputFeed } from "../input/feed.ts";
import type { InputQueue } from "../input/input-queue.ts";
import type { Paced } from "../output/pacing.ts";
import type { Attempt } from "../wire/attempt.ts";
import { MAX_FRAME_BYTES, MAX_UNACKED_INPUT_BYTES } from "../wire/constants.ts";
import type { Participant, ParticipantKind, ServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import type { KnownClient } from "../wire/inner-messages.ts";
import type { Delivery, Role } from "../wire/terms.ts";
import type { LastWrite } from "../wire/write-messages.ts";
import type { Budget } from "./budget.ts";
import type { Greeted, Peer, Presence } from "./presence.ts";

export type TerminalSize = { readonly cols: number; readonly rows: number };

/** Clients that are counted together. */
export type Party = { readonly id: string; readonly maxClients: number };

/** A client's description of itself when it attaches. */
export type ClientWho = {
  readonly name: string;
  readonly role: Role;
  /** Absent: a person. */
  readonly kind?: ParticipantKind | undefined;
  readonly isAdmin: boolean;
  readonly delivery: Delivery;
  readonly acknowledges: boolean;
  readonly holdsAlone?: boolean | undefined;
  readonly canResume?: boolean | undefined;
  readonly party?: Party | undefined;
  readonly person?: string | undefined;
  readonly mayUseKept?: boolean | undefined;
  readonly keeps?: number | undefined;
};

const NOBODY = shaped({ name: "", role: "viewer", isAdmin: false, delivery: "live", acknowledges: false });

/** All in one shape, whatever was said of the client and wherever: it is asked at every key, and what is asked is compiled for a shape. */
function shaped(who: ClientWho): ClientWho {
  const { name, role, kind, isAdmin, delivery, acknowledges, holdsAlone, canResume } = who;
  const { party, person, mayUseKept, keeps } = who;
  return {
    ...{ name, role, kind, isAdmin, delivery, acknowledges, holdsAlone, canResume },
    ...{ party, person, mayUseKept, keeps },
  };
}

/** To be attached at once. */
export class ClientRecord implements Paced {
  readonly id: string;
  readonly input: InputQueue;
  /** Input that it has sent, and that `input` has no room for yet; always empty for a client that acknowledges. */
  readonly feed = new InputFeed();
  presence: Presence = { phase: "gone" };
  /** Position in the order of arrival. */
  order = 0;
  /** As it said when it attached last. */
  #who: ClientWho = NOBODY;
  size: TerminalSize | undefined;
  /** When it was used last, in the order of uses; counted only with a {@link person}, and at the bridge. */
  lastUse = 0;
  /** A program's last write, so that the same one, sent again over a new hop, is answered in the same way. */
  lastWrite: LastWrite | undefined;
  /** Its newest connection, as it has numbered it. */
  attempt: Attempt | undefined;
  /** Its budget for messages and refused input, over all its connections; undefined if its connection does not ask. */
  budget: Budget | undefined;
  /** How much input it may have sent that is not acknowledged. */
  inputWindow = MAX_UNACKED_INPUT_BYTES;
  /** Whether it was told that the process takes no more input: a later life is told before it sends a window of it (L10). */
  wasToldClosed = false;
  /** Whether it ever sent an ack, input or an end of input: only then is its vanishing given a grace. */
  isActive = false;

  constructor(id: string, input: InputQueue) {
    this.id = id;
    this.input = input;
  }

  /** It attaches, perhaps by another name or in another way than before. */
  attach(who: ClientWho, order: number, presence: Presence): void {
    this.#who = shaped(who);
    this.order = order;
    this.presence = presence;
  }

  get who(): ClientWho {
    return this.#who;
  }

  get name(): string {
    return this.#who.name;
  }

  get role(): Role {
    return this.#who.role;
  }

  get kind(): ParticipantKind {
    return this.#who.kind ?? "person";
  }

  get isAdmin(): boolean {
    return this.#who.isAdmin;
  }

  get delivery(): Delivery {
    return this.#who.delivery;
  }

  get acknowledges(): boolean {
    return this.#who.acknowledges;
  }

  /** Whether it alone types while it holds the keyboard, in either mode of the session. */
  get holdsAlone(): boolean {
    return this.#who.holdsAlone ?? false;
  }

  /** Whether it can come back as itself: one that can't has left when its connection ends. */
  get canResume(): boolean {
    return this.#who.canResume ?? true;
  }

  /** The party that it came with, by its id. */
  get party(): string | undefined {
    return this.#who.party?.id;
  }

  /** Of the clients with the same person only the one that was used last counts for the terminal's size. */
  get person(): string | undefined {
    return this.#who.person;
  }

  get mayUseKept(): boolean {
    return this.#who.mayUseKept ?? true;
  }

  /** Whether it writes by calls and has no connection of its own. */
  get isProgram(): boolean {
    return this.#who.kind === "program";
  }

  /** Whether it is here: by a connection, by calls, or within its grace. */
  get isPresent(): boolean {
    return this.presence.phase !== "absent" && this.presence.phase !== "gone";
  }

  /** Whether it has a connection, to here or to the far end of the inner hop. */
  get isAttached(): boolean {
    return this.peer !== undefined || this.presence.phase === "remote";
  }

  /** How it is here, if it has been greeted by a connection of its own. */
  get greeted(): Greeted | undefined {
    return this.presence.phase === "greeted" ? this.presence : undefined;
  }

  get acked(): number {
    const { presence } = this;
    if (presence.phase === "greeted" || presence.phase === "greeting") return presence.reader.flow.acked;
    return "acked" in presence ? presence.acked : 0;
  }

  get windowBytes(): number {
    const { presence } = this;
    if (presence.phase === "greeted" || presence.phase === "greeting") return presence.reader.flow.bytes;
    return "windowBytes" in presence ? presence.windowBytes : MAX_FRAME_BYTES;
  }

  /** So much of its window the link itself holds; all of it where that is not known here. */
  get linkBytes(): number {
    return this.greeted?.reader.flow.linkBytes ?? this.windowBytes;
  }

  /** The connection, where it has one of its own. */
  get peer(): Peer | undefined {
    const { presence } = this;
    const isDirect = presence.phase === "greeted" || presence.phase === "opening" || presence.phase === "greeting";
    return isDirect ? presence.peer : undefined;
  }

  get participant(): Participant {
    const { id, name, role, kind, holdsAlone } = this;
    return { id, name, role, kind, ...defined({ alone: holdsAlone || undefined }) };
  }

  /** Tells it something by its connection, or by the inner hop; nothing where it has neither. */
  tell(message: ServerMessage): void {
    if (this.presence.phase === "remote") this.presence.peer.tell(this.id, message);
    else this.peer?.send(message);
  }
}

/** The state that is kept of a client beyond this life of its session: its place in the input above all. */
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
    ...defined({ received: received === taken ? undefined : received, eof }),
    acked: client.acked,
    isAbsent: client.presence.phase === "absent",
  };
}
