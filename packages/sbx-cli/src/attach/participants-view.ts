// Tells a person at a terminal of the other people on the session: in lines while that is wanted, in the terminal's title,
// and always where the keyboard is theirs to give or to have. Draws nothing.

import {
  announcementOf,
  type ClientState,
  followParticipants,
  keyboardWords,
  mayType,
  nameOf,
  type Participants,
  participantOf,
  participantsOf,
  type ServerMessage,
  soleTypistOf,
  yieldsKeyboard,
} from "sandbox-stdio/core";
import type { Notices } from "../base/notices.ts";

export type ParticipantsViewEvents = {
  /** Sets the words of the terminal's title; undefined: those from before. */
  title(text: string | undefined): void;
};

export class ParticipantsView {
  readonly #notices: Notices;
  readonly #events: ParticipantsViewEvents;
  #isOn: boolean;
  #people: Participants | undefined;
  #place = "";
  #connection = "";
  /** Whether the earlier screen is drawn: words from before would be cleared away with it. */
  #isCaughtUp = false;
  /** Whether it has been said, since the keyboard last changed hands, that keys go nowhere. */
  #hasToldReadOnly = false;
  /** Whether this client has asked for the keyboard, and nobody has got it since. */
  #hasAsked = false;

  /** @param isOn Whether everything is told from the beginning. */
  constructor(notices: Notices, isOn: boolean, events: ParticipantsViewEvents) {
    this.#notices = notices;
    this.#isOn = isOn;
    this.#events = events;
  }

  get people(): Participants | undefined {
    return this.#people;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  get mayType(): boolean {
    return this.#people === undefined || mayType(this.#people);
  }

  state(state: ClientState): void {
    if (state.phase === "attached") {
      this.#people = participantsOf(state.hello);
      this.#place = `${state.hello.sandbox}/${state.hello.session}`;
      this.#connection = "connected";
      this.#hasToldReadOnly = false;
    } else this.#connection = state.phase === "ended" ? "ended" : "not connected";
    if (state.phase === "attached" && state.hello.live === 0) this.caughtUp();
    this.#retitle();
  }

  /** Everything that was printed before is drawn. May be told again. */
  caughtUp(): void {
    if (this.#isCaughtUp) return;
    this.#isCaughtUp = true;
    if (this.#isOn) this.#notices.say(this.summary);
  }

  message(message: ServerMessage): void {
    const before = this.#people;
    if (before === undefined) return;
    const after = followParticipants(before, message);
    this.#people = after;
    if (message.type === "stdin_holder") this.#hasToldReadOnly = false;
    const text = announcementOf(before, message);
    const isFreeForYou = this.#hasAsked && message.type === "stdin_holder" && message.id === "";
    if (text !== undefined && (this.#isOn || isFreeForYou || isOwnBusiness(before, message))) {
      const isRequest = message.type === "stdin_request" && after.holder === after.you;
      const advice = isRequest ? " (Ctrl+^ g gives it)" : isFreeForYou ? " (Ctrl+^ a takes it)" : "";
      this.#notices.say(`${text}${advice}`);
      if (advice !== "") this.#notices.bell();
    }
    if (message.type === "stdin_request" && message.id === before.you) this.#hasAsked = true;
    if (message.type === "stdin_holder" && message.id !== "") this.#hasAsked = false;
    if (after !== before) this.#retitle();
  }

  /** Keys were pressed that the session would not take. */
  refused(): void {
    if (this.#people === undefined || this.#hasToldReadOnly) return;
    this.#hasToldReadOnly = true;
    const isDriver = participantOf(this.#people, this.#people.you)?.role === "driver";
    const isFree = this.#people.holder === "" || yieldsKeyboard(this.#people);
    const take = isFree ? "Ctrl+^ a takes it" : "Ctrl+^ a asks for it";
    const advice = isDriver ? take : "Ctrl+] ends";
    this.#notices.say(`read only: ${keyboardWords(this.#people)} (${advice})`);
  }

  /** Everybody who is here, in one line. */
  get summary(): string {
    const people = this.#people;
    if (people === undefined) return "not connected";
    const names = people.participants.map(({ id, role }) => {
      const facts = [
        ...(id === people.you ? ["you"] : []),
        ...(role === "viewer" ? ["viewer"] : []),
        ...(id === soleTypistOf(people) ? ["has the keyboard"] : []),
        ...(people.typed?.[id] === undefined ? [] : [`typed ${people.typed[id]}`]),
      ];
      return `${nameOf(people, id)}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`;
    });
    const keyboard =
      people.mode === "collaborative" && soleTypistOf(people) === "" ? "; everyone but viewers may type" : "";
    return `${names.length} here: ${names.join(", ")}${keyboard}; ${this.#connection}`;
  }

  toggle(): void {
    this.#isOn = !this.#isOn;
    this.#notices.say(this.#isOn ? this.summary : "status off");
    this.#retitle();
  }

  #retitle(): void {
    const people = this.#people;
    if (!this.#isOn || people === undefined) {
      this.#events.title(undefined);
      return;
    }
    const names = people.participants.map(({ id, role }) => {
      const mark = id === soleTypistOf(people) ? "*" : "";
      return `${nameOf(people, id)}${mark}${role === "viewer" ? " (viewer)" : ""}`;
    });
    this.#events.title(`${this.#place}: ${names.join(", ")} · ${this.#connection}`);
  }
}

/** The messages that a person gets even if the status is off: a request that is theirs to answer, the keyboard coming and going. */
function isOwnBusiness(people: Participants, message: ServerMessage): boolean {
  if (message.type === "stdin_request") return people.holder === people.you || message.id === people.you;
  return message.type === "stdin_holder" && (people.holder === people.you || message.id === people.you);
}
