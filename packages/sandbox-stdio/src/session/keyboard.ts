// The right to type: roles, the mode of the session, and the keyboard that is handed over in an exclusive one. Decides only;
// the caller tells the other clients.

import type { ParticipantKind } from "../wire/control.ts";
import type { Mode, Role } from "../wire/terms.ts";

/** Why a client's request is refused. The first two are the `code` of an `error` message. */
export type KeyboardFault = "not_stdin_holder" | "viewer" | "not_allowed" | "no_such_client";
export type KeyboardResult = { readonly ok: true } | { readonly ok: false; readonly fault: KeyboardFault };

type Member = {
  readonly id: string;
  readonly role: Role;
  readonly isAdmin: boolean;
  /** Absent: a person. */
  readonly kind?: ParticipantKind;
  /** Whether no other client may type while it holds the keyboard, in either mode. */
  readonly holdsAlone?: boolean;
};

const GRANTED: KeyboardResult = { ok: true };
const refuse = (fault: KeyboardFault): KeyboardResult => ({ ok: false, fault });

const isDrivingPerson = ({ role, kind }: Member) => role === "driver" && kind !== "program";

export class Keyboard {
  readonly mode: Mode;
  /** Members in the order in which they came. */
  #members = new Map<string, Member>();
  /** Viewers that have asked to type. */
  readonly #asking = new Set<string>();
  #holder: string;
  #hasBeenHeld: boolean;
  #turn = 0;
  #isLent = false;

  /** @param hasBeenHeld Whether a first driver has had the keyboard: a free one then waits for a driver that asks. */
  constructor(mode: Mode, holder = "", hasBeenHeld = holder !== "") {
    this.mode = mode;
    this.#holder = holder;
    this.#hasBeenHeld = hasBeenHeld;
  }

  /** The client that may type in an exclusive session; "" if the keyboard is free. */
  get holder(): string {
    return this.#holder;
  }

  /** Whether only the holder may type now: by the mode, or since a client holds the keyboard that relies on it. */
  get isExclusive(): boolean {
    return this.mode === "exclusive" || this.#isLent || this.#members.get(this.#holder)?.holdsAlone === true;
  }

  /** Whether its holder has it for a program that has asked (K12), or is a viewer (K15): until it is given back no other client types. */
  get isLent(): boolean {
    return this.#isLent;
  }

  /** How often the keyboard has gone from one to another: tells input from before a handover from input after it. */
  get turn(): number {
    return this.#turn;
  }

  /** The first driver takes the keyboard; later ones find it taken, or free after the holder left and until a client asks. */
  join(member: Member): void {
    const isFirstDriver = member.role === "driver" && ![...this.#members.values()].some((m) => m.role === "driver");
    const wasDriver = this.#members.get(member.id)?.role === "driver";
    this.#members.set(member.id, member);
    // A viewer keeps only a keyboard that was lent to it as a viewer.
    if (member.role === "viewer" && this.#holder === member.id && (wasDriver || !this.#isLent)) this.#give("");
    if (this.mode === "exclusive" && this.#holder === "" && isFirstDriver && !this.#hasBeenHeld) this.#give(member.id);
  }

  /** Whether a first driver has had the keyboard. */
  get hasBeenHeld(): boolean {
    return this.#hasBeenHeld;
  }

  /** A client that was here all the time: it finds the keyboard as it left it. */
  rejoin(member: Member): void {
    this.#members.set(member.id, member);
  }

  /**
   * @param wasHeard Whether it ever took part. A holder that did not has not had the keyboard: it may have gone before it was
   * greeted, and come again.
   * @returns Whether the keyboard became free.
   */
  leave(id: string, wasHeard: boolean): boolean {
    this.#members.delete(id);
    this.#asking.delete(id);
    if (this.#holder !== id) return false;
    this.#give("");
    this.#hasBeenHeld = wasHeard;
    return true;
  }

  /** Takes over the decision of the other end of the inner hop. */
  setHolder(id: string, isLent = false): void {
    this.#give(id);
    this.#isLent = isLent && id !== "";
  }

  /** Whether this client's messages may reach the process: input, and in an exclusive session signals and size too. */
  mayDrive(id: string): KeyboardResult {
    const member = this.#members.get(id);
    if (member === undefined) return refuse("no_such_client");
    if (member.role === "viewer" && !(this.#isLent && this.#holder === id)) return refuse("viewer");
    return this.isExclusive && this.#holder !== id ? refuse("not_stdin_holder") : GRANTED;
  }

  /** A driver that asks gets a free keyboard, and a person a program's (K2d) or a viewer's; otherwise the caller tells the others. */
  request(id: string): KeyboardResult & { readonly isTaken?: boolean } {
    const member = this.#members.get(id);
    if (member === undefined) return refuse("no_such_client");
    if (this.#holder === id) return GRANTED;
    if (member.role === "viewer") {
      if (![...this.#members.values()].some(isDrivingPerson)) return refuse("viewer");
      this.#asking.add(id);
      return { ok: true, isTaken: true };
    }
    const isPerson = (member.kind ?? "person") === "person";
    if (this.#holder !== "" && !(isPerson && this.#yields)) return { ok: true, isTaken: true };
    this.#give(id);
    return GRANTED;
  }

  /** Lends it to a driver, unless it is another person's. */
  lend(id: string): KeyboardResult {
    const member = this.#members.get(id);
    if (member?.role !== "driver") return refuse(member === undefined ? "no_such_client" : "viewer");
    const yields = this.#holder === "" || this.#holder === id || this.#yields;
    if (this.isExclusive && !yields) return refuse("not_stdin_holder");
    this.setHolder(id, true);
    return GRANTED;
  }

  release(id: string): KeyboardResult {
    if (this.#holder !== id) return refuse("not_stdin_holder");
    this.#give("");
    return GRANTED;
  }

  grant(id: string, to: string): KeyboardResult {
    const receiver = this.#members.get(to);
    if (receiver?.role === "viewer") return this.#grantViewer(id, to);
    if (this.#holder !== id) return refuse("not_stdin_holder");
    if (receiver === undefined) return refuse("no_such_client");
    this.#give(to);
    return GRANTED;
  }

  /** A viewer types only if it has asked, and a person who may type says so (K15). A keyboard taken for a program is not passed on. */
  #grantViewer(id: string, to: string): KeyboardResult {
    const giver = this.#members.get(id);
    if (giver === undefined || !this.mayDrive(id).ok) return refuse("not_stdin_holder");
    if (!this.#asking.has(to) || this.#isLent || !isDrivingPerson(giver)) return refuse("viewer");
    this.setHolder(to, true);
    return GRANTED;
  }

  /** @param isDeserted Whether the holder's connection is gone, and this is the session's creator: that is enough. */
  forceTake(id: string, isDeserted = false): KeyboardResult {
    const member = this.#members.get(id);
    if (member === undefined) return refuse("no_such_client");
    if (!member.isAdmin && !isDeserted) return refuse("not_allowed");
    if (member.role !== "driver") return refuse("viewer");
    this.#give(id);
    return GRANTED;
  }

  /** Whether its holder has it only until a person takes it. */
  get #yields(): boolean {
    const holder = this.#members.get(this.#holder);
    return holder?.kind === "program" || holder?.role === "viewer";
  }

  #give(id: string): void {
    this.#asking.delete(id);
    if (id !== this.#holder) {
      this.#turn += 1;
      this.#isLent = false;
    }
    this.#holder = id;
    if (id !== "") this.#hasBeenHeld = true;
  }
}
