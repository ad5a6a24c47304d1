// The participants of a session as the page shows them: who may type, who requests the keyboard, and the latest event as a text. Sends
// this person's keyboard requests. No React.

import {
  announcementOf,
  isYourOther,
  keyboardWords,
  mayGiveTo,
  nameOrYours,
  otherDrivers,
  type Participants,
  participantOf,
  personKey,
  type ServerMessage,
  soleTypistOf,
} from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { ENGLISH, type Texts } from "../texts/texts.ts";
import { Store } from "../ui/store.ts";

export type ParticipantsState = {
  /** undefined before the first greeting. */
  readonly people: Participants | undefined;
  /** Clients whose request for this client's keyboard is unanswered. */
  readonly requesters: readonly string[];
  /** Whether this client waits for the keyboard. */
  readonly hasRequested: boolean;
  /** Who declined this client's request a moment ago. */
  readonly declinedBy: string | undefined;
  /** The last event; `count` tells repetitions of the same text apart. */
  readonly notice: { readonly text: string; readonly count: number };
  /** Refused keys since the keyboard last changed hands. */
  readonly refusedKeys: number;
};

const DECLINED_MS = 5_000;

/** `back`: gives the keyboard back. */
export type AskAct = "take" | "decline" | "back";

export class ParticipantsModel extends Store<ParticipantsState> {
  readonly #connection: BrowserConnection;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Texts of later notices. */
  words: Texts["people"] = ENGLISH.people;

  constructor(connection: BrowserConnection) {
    super({
      people: undefined,
      requesters: [],
      hasRequested: false,
      declinedBy: undefined,
      notice: { text: "", count: 0 },
      refusedKeys: 0,
    });
    this.#connection = connection;
    connection.subscribe({
      state: ({ phase }) => phase === "attached" && this.#greeted(),
      message: (message) => this.#onMessage(message),
      refused: () => this.#refused(),
    });
  }

  /** Requests the keyboard; a free one is granted at once. */
  ask(): void {
    this.#connection.client?.send({ type: "request_stdin" });
  }

  release(): void {
    this.#connection.client?.send({ type: "release_stdin" });
  }

  give(to: string): void {
    this.#connection.client?.send({ type: "grant_stdin", to });
  }

  /** Takes the keyboard from its holder; needs admin rights. */
  take(): void {
    this.#connection.client?.send({ type: "force_take" });
  }

  /** The oldest ask that this person may answer so. */
  answerable(act: AskAct): string | undefined {
    const { asks = [], you = "" } = this.state.people ?? {};
    return asks.find(({ by }) => (act === "decline" ? (by ?? you) : (by ?? "")) === (act === "take" ? "" : you))?.id;
  }

  answer(act: AskAct, id: string): void {
    if (act === "back") this.release();
    else this.#connection.client?.send({ type: `${act}_ask`, id });
  }

  /** Hides a request unless it is repeated. Who has asked is told once no request is open. */
  decline(id: string): void {
    const requesters = this.state.requesters.filter((asker) => asker !== id);
    this.change({ requesters });
    if (requesters.length === 0) this.#announceDecline();
  }

  /** The protocol has no message for it: a keyboard that is announced where it already was answers all requests. */
  #announceDecline(): void {
    const { people } = this.state;
    const { client } = this.#connection;
    if (people === undefined) return;
    const { you, holder, asks } = people;
    if (holder === you) client?.send({ type: "grant_stdin", to: you });
    // Another typist may still agree; and the first message would take a program's ask.
    else if (askedOf(people).includes(you) && asks.length === 0) {
      client?.send({ type: "request_stdin" });
      client?.send({ type: "release_stdin" });
    }
  }

  #greeted(): void {
    // The server does not repeat requests after a reconnect.
    this.change({ people: this.#connection.people, requesters: [], hasRequested: false, refusedKeys: 0 });
  }

  #onMessage(message: ServerMessage): void {
    const before = this.state.people;
    const { people } = this.#connection;
    if (before === undefined || people === undefined) return;
    const decliner = this.#declinerOf(before, message);
    const text =
      decliner === undefined
        ? announcementOf(before, message, this.words)
        : this.words.notNow(nameOrYours(people, decliner, this.words, true));
    if (people === before && text === undefined) return;
    const notice = text === undefined ? this.state.notice : this.#notice(text);
    this.change({ people, notice, ...this.#requestsAfter(message, people) });
    if (decliner === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.change({ declinedBy: undefined }), DECLINED_MS);
    this.change({ declinedBy: decliner });
  }

  #declinerOf(before: Participants, message: ServerMessage): string | undefined {
    if (!this.state.hasRequested || message.type !== "stdin_holder" || message.id === before.you) return undefined;
    return askedOf(before).find((id) => id === message.id);
  }

  #requestsAfter(message: ServerMessage, people: Participants): Partial<ParticipantsState> {
    if (message.type === "stdin_holder") return { requesters: [], hasRequested: false, refusedKeys: 0 };
    if (message.type !== "stdin_request" && message.type !== "leave") return {};
    const others = this.state.requesters.filter((id) => id !== message.id);
    if (message.type === "leave") return { requesters: others };
    if (message.id === people.you) return { hasRequested: true, declinedBy: undefined };
    return mayGiveTo(people, message.id) ? { requesters: [...others, message.id] } : {};
  }

  #refused(): void {
    const { people, refusedKeys } = this.state;
    if (people === undefined) return;
    const count = refusedKeys + 1;
    if (refusedKeys > 0) this.change({ refusedKeys: count });
    else {
      const notice = this.#notice(this.words.readOnly(keyboardWords(people, this.words)));
      this.change({ notice, refusedKeys: count });
    }
  }

  #notice(text: string): ParticipantsState["notice"] {
    return { text, count: this.state.notice.count + 1 };
  }
}

/** Whom a request asks: the windows of one person; none if it asks several. */
export function askedOf({ mode, holder, participants }: Participants): readonly string[] {
  if (holder !== "") return [holder];
  const typists = participants.filter(({ role, kind }) => role === "driver" && kind !== "program");
  const isOne = mode === "collaborative" && new Set(typists.map(personKey)).size === 1;
  return isOne ? typists.map(({ id }) => id) : [];
}

/** Whether another window of this person may hold the size, which this one would take if it were used (K4a). */
export function isOwnWindowSizing(people: Participants | undefined): boolean {
  if (people === undefined || soleTypistOf(people) !== "") return false;
  if (participantOf(people, people.you)?.role !== "driver") return false;
  return otherDrivers(people).some(({ id }) => isYourOther(people, id));
}

/** Names of the people whose other windows set the terminal's size (K4), each once. */
export function sizedBy(people: Participants | undefined, words: Texts["people"]): readonly string[] {
  if (people === undefined) return [];
  const sole = soleTypistOf(people);
  const others = otherDrivers(people).filter(({ id }) => sole === "" || id === sole);
  return [...new Set(others.map(({ id }) => nameOrYours(people, id, words)))];
}
