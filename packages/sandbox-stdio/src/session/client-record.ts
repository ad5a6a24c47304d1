// What a session knows of one client: identity, progress of its output and input, and presence. One record for each client,
// over all its connections.

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

/** Clients that share a limit. */
export type Party = { readonly id: string; readonly maxClients: number };

/** How a client describes itself on attach. */
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
  readonly login?: string | undefined;
  readonly personName?: string | undefined;
  readonly mayUseKept?: boolean | undefined;
  readonly keeps?: number | undefined;
  readonly answersQueries?: boolean | undefined;
};

const UNATTACHED = normalized({ name: "", role: "viewer", isAdmin: false, delivery: "live", acknowledges: false });

/** Normalizes the property order so that engines see one hidden class; read on every keystroke. */
function normalized(who: ClientWho): ClientWho {
  const { name, role, kind, isAdmin, delivery, acknowledges, holdsAlone, canResume } = who;
  const { party, person, login, personName, mayUseKept, keeps, answersQueries } = who;
  return {
    ...{ name, role, kind, isAdmin, delivery, acknowledges, holdsAlone, canResume },
    ...{ party, person, login, personName, mayUseKept, keeps, answersQueries },
  };
}

/** Call {@link ClientRecord.attach} right after construction. */
export class ClientRecord implements Paced {
  readonly id: string;
  readonly input: InputQueue;
  /** Input received that does not fit into `input` yet. Always empty for a client that acknowledges. */
  readonly feed = new InputFeed();
  presence: Presence = { phase: "gone" };
  /** Position in the order of arrival. */
  order = 0;
  /** From its last attach. */
  #who: ClientWho = UNATTACHED;
  size: TerminalSize | undefined;
  /** Sequence number of its last use. Counted only at the bridge, and only with a {@link person}. */
  lastUse = 0;
  /** A program's last write, to answer the same way if it is resent over a new hop. */
  lastWrite: LastWrite | undefined;
  /** Its newest connection, numbered by the client. */
  attempt: Attempt | undefined;
  /** Budget for messages and refused input over all its connections; undefined if its connection uses none. */
  budget: Budget | undefined;
  /** Most unacknowledged input. */
  inputWindow = MAX_UNACKED_INPUT_BYTES;
  /** Whether it was told that input is closed: a later life is told before it sends a window of input (L10). */
  wasToldClosed = false;
  /** Whether it ever sent an ack, input or an end of input. Only then does it get a grace period. */
  isActive = false;

  constructor(id: string, input: InputQueue) {
    this.id = id;
    this.input = input;
  }

  /** Attaches the client, perhaps with a new name or role. */
  attach(who: ClientWho, order: number, presence: Presence): void {
    this.#who = normalized(who);
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

  /** Whether no other client may type while it holds the keyboard, in either mode. */
  get holdsAlone(): boolean {
    return this.#who.holdsAlone ?? false;
  }

  /** Whether it can reconnect as itself. If not, it leaves when its connection ends. */
  get canResume(): boolean {
    return this.#who.canResume ?? true;
  }

  /** Id of its party. */
  get party(): string | undefined {
    return this.#who.party?.id;
  }

  /** Among clients of the same person, only the last one used counts for the terminal's size. */
  get person(): string | undefined {
    return this.#who.person;
  }

  /** Opaque id of a login under one name: clients with the same are one person's windows (L11b). Absent: no other client is its person's. */
  get login(): string | undefined {
    return this.#who.login;
  }

  /** The name of its person, which all of that person's windows have (L11b). */
  get personName(): string | undefined {
    return this.#who.personName;
  }

  get mayUseKept(): boolean {
    return this.#who.mayUseKept ?? true;
  }

  /** Whether it writes by calls, without a connection. */
  get isProgram(): boolean {
    return this.#who.kind === "program";
  }

  /** Whether it is attached, calling, or within its grace period. */
  get isPresent(): boolean {
    return this.presence.phase !== "absent" && this.presence.phase !== "gone";
  }

  /** Whether it has a connection, here or at the far end of the inner hop. */
  get isAttached(): boolean {
    return this.peer !== undefined || this.presence.phase === "remote";
  }

  /** Its presence, if it was greeted on a direct connection. */
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

  /** The part of its window that the link itself holds; the whole window if unknown here. */
  get linkBytes(): number {
    return this.greeted?.reader.flow.linkBytes ?? this.windowBytes;
  }

  /** Its direct connection, if any. */
  get peer(): Peer | undefined {
    const { presence } = this;
    const isDirect = presence.phase === "greeted" || presence.phase === "opening" || presence.phase === "greeting";
    return isDirect ? presence.peer : undefined;
  }

  get participant(): Participant {
    const { id, name, role, kind, holdsAlone, personName } = this;
    return { id, name, role, kind, ...defined({ alone: holdsAlone || undefined, person: personName }) };
  }

  /** Sends a message over its connection or the inner hop, if it has either. */
  tell(message: ServerMessage): void {
    if (this.presence.phase === "remote") this.presence.peer.tell(this.id, message);
    else this.peer?.send(message);
  }
}

/** The client's state that outlives this life of its session: above all the position of its input. */
export function knownOf(client: ClientRecord): KnownClient {
  const { eof, taken, received } = client.input;
  const { id, role, kind, name, delivery, acknowledges, login, personName } = client;
  return {
    id,
    role,
    kind,
    name,
    delivery,
    acknowledges,
    stdin: taken,
    ...defined({ received: received === taken ? undefined : received, eof, login, personName }),
    acked: client.acked,
    isAbsent: client.presence.phase === "absent",
  };
}
