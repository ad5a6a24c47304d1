// Announces the other participants to a person at a terminal: in notices and the title if status is on, and always where the
// keyboard is this person's to give or to get. Draws nothing.

import {
  announcementOf,
  type ClientState,
  followParticipants,
  keyboardWords,
  mayType,
  nameOf,
  type Participant,
  type Participants,
  participantOf,
  participantsOf,
  personsOf,
  type ServerMessage,
  soleTypistOf,
  yieldsKeyboard,
  yourAsk,
} from "sandbox-stdio/core";
import type { Notices } from "../base/notices.ts";

const SECRET_WORDS = "; only the length of what you type is recorded";
const SHOWN_WORDS = ", but the terminal shows it";

export type ParticipantsViewEvents = {
  /** Sets the terminal title; undefined restores the previous one. */
  title(text: string | undefined): void;
};

export class ParticipantsView {
  readonly #notices: Notices;
  readonly #events: ParticipantsViewEvents;
  #isOn: boolean;
  #people: Participants | undefined;
  #session = "";
  #connection = "";
  /** Whether the replay is drawn, which would clear earlier notices away. */
  #isCaughtUp = false;
  /** Whether the read-only notice was shown since the keyboard last changed hands. */
  #hasToldReadOnly = false;
  #isRecorded = false;
  /** Whether this client requested the keyboard and nobody has received it since. */
  #hasAsked = false;

  /** @param isOn Whether status is on from the beginning. */
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
      this.#session = `${state.hello.sandbox}/${state.hello.session}`;
      this.#isRecorded = state.hello.recording !== undefined;
      this.#connection = "connected";
      this.#hasToldReadOnly = false;
    } else this.#connection = state.phase === "ended" ? "ended" : "not connected";
    if (state.phase === "attached" && state.hello.live === 0) this.caughtUp();
    this.#retitle();
  }

  /** The replay is drawn. May be called repeatedly. */
  caughtUp(): void {
    if (this.#isCaughtUp) return;
    this.#isCaughtUp = true;
    if (this.#isRecorded) this.#notices.say("the output of this session is recorded");
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
      const ofKeyboard = isRequest ? " (Ctrl+^ g gives it)" : isFreeForYou ? " (Ctrl+^ a takes it)" : "";
      const advice = message.type === "ask" ? " (Ctrl+^ a takes the keyboard, n declines)" : ofKeyboard;
      this.#notices.say(`${text}${advice}`);
      if (advice !== "") this.#notices.bell();
    }
    if (message.type === "stdin_request" && message.id === before.you) this.#hasAsked = true;
    if (message.type === "stdin_holder" && message.id !== "") this.#hasAsked = false;
    if (message.type === "ask_state" && message.by === after.you) {
      const secret = yourAsk(after)?.secret === true ? SECRET_WORDS + (after.echo ? SHOWN_WORDS : "") : "";
      this.#notices.say(`the keyboard is yours until Ctrl+^ r${secret}`);
    }
    if (after !== before) this.#retitle();
  }

  /** The session refused typed keys. */
  refused(): void {
    if (this.#people === undefined || this.#hasToldReadOnly) return;
    this.#hasToldReadOnly = true;
    const isDriver = participantOf(this.#people, this.#people.you)?.role === "driver";
    const isFree = this.#people.holder === "" || yieldsKeyboard(this.#people);
    const take = isFree ? "Ctrl+^ a takes it" : "Ctrl+^ a asks for it";
    const advice = isDriver ? take : "Ctrl+] detaches";
    this.#notices.say(`read only: ${keyboardWords(this.#people)} (${advice})`);
  }

  /** All participants in one line. */
  get summary(): string {
    const people = this.#people;
    if (people === undefined) return "not connected";
    const names = personsOf(people).map((windows) => {
      const { id = "" } = windows[0] ?? {};
      const facts: string[] = [];
      if (isOne(windows, people.you)) facts.push("you");
      if (windows.length > 1) facts.push(`${windows.length} windows`);
      if (isViewer(windows)) facts.push("viewer");
      if (isOne(windows, soleTypistOf(people))) facts.push("has the keyboard");
      if (people.typed?.[id] !== undefined) facts.push(`typed ${people.typed[id]}`);
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
    const names = personsOf(people).map((windows) => {
      const mark = isOne(windows, soleTypistOf(people)) ? "*" : "";
      return `${nameOf(people, windows[0]?.id ?? "")}${mark}${isViewer(windows) ? " (viewer)" : ""}`;
    });
    this.#events.title(`${this.#session}: ${names.join(", ")} · ${this.#connection}`);
  }
}

type Windows = readonly Participant[];
const isOne = (windows: Windows, id: string): boolean => windows.some((window) => window.id === id);
const isViewer = (windows: Windows): boolean => windows.every(({ role }) => role === "viewer");

/** Whether a message is announced even with status off: a request to answer, or the keyboard coming or going. */
function isOwnBusiness(people: Participants, message: ServerMessage): boolean {
  if (message.type === "ask" || message.type === "ask_state") return true;
  if (message.type === "stdin_request") return people.holder === people.you || message.id === people.you;
  return message.type === "stdin_holder" && (people.holder === people.you || message.id === people.you);
}
