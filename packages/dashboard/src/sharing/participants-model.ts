// The other people on the session, as the page shows them: who may type, who asks for the keyboard, and the latest news in
// words. Carries out a person's wishes for the keyboard. No React.

import { announcementOf, keyboardWords, type Participants, type ServerMessage } from "sandbox-stdio/core";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { ENGLISH, type Texts } from "../texts/texts.ts";

export type ParticipantsState = {
  /** undefined before the first greeting. */
  readonly people: Participants | undefined;
  /** The clients that ask this client for the keyboard and have got no answer yet. */
  readonly askers: readonly string[];
  /** Whether this client has asked for it and waits. */
  readonly hasAsked: boolean;
  /** The last event in words; `count` tells it from the same words before. */
  readonly news: { readonly text: string; readonly count: number };
  /** Keys that this client pressed and may not type, since the keyboard last changed hands. */
  readonly refusedKeys: number;
};

export class ParticipantsModel {
  readonly #connection: BrowserConnection;
  readonly #listeners = new Set<() => void>();
  /** The language of the news, from now on. */
  words: Texts["people"] = ENGLISH.people;
  #state: ParticipantsState = {
    people: undefined,
    askers: [],
    hasAsked: false,
    news: { text: "", count: 0 },
    refusedKeys: 0,
  };

  constructor(connection: BrowserConnection) {
    this.#connection = connection;
    connection.subscribe({
      state: ({ phase }) => phase === "attached" && this.#greeted(),
      message: (message) => this.#told(message),
      refused: () => this.#refused(),
    });
  }

  /** The same object until something changes. */
  readonly getState = (): ParticipantsState => this.#state;

  /** @returns How to stop listening. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Asks for the keyboard: a free one comes at once. */
  ask(): void {
    this.#connection.client?.send({ type: "request_stdin" });
  }

  release(): void {
    this.#connection.client?.send({ type: "release_stdin" });
  }

  give(to: string): void {
    this.#connection.client?.send({ type: "grant_stdin", to });
  }

  /** Takes the keyboard from its holder: for administrators. */
  take(): void {
    this.#connection.client?.send({ type: "force_take" });
  }

  /** Leaves a request unanswered: it is not shown any more, unless it is made again. */
  decline(id: string): void {
    this.#change({ askers: this.#state.askers.filter((asker) => asker !== id) });
  }

  #greeted(): void {
    // The server does not repeat requests from before a break.
    this.#change({ people: this.#connection.people, askers: [], hasAsked: false, refusedKeys: 0 });
  }

  #told(message: ServerMessage): void {
    const before = this.#state.people;
    const { people } = this.#connection;
    if (before === undefined || people === undefined) return;
    const text = announcementOf(before, message, this.words);
    if (people === before && text === undefined) return;
    const news = text === undefined ? this.#state.news : this.#news(text);
    this.#change({ people, news, ...this.#requestsAfter(message, people) });
  }

  #requestsAfter(message: ServerMessage, people: Participants): Partial<ParticipantsState> {
    if (message.type === "stdin_holder") return { askers: [], hasAsked: false, refusedKeys: 0 };
    if (message.type !== "stdin_request" && message.type !== "leave") return {};
    const others = this.#state.askers.filter((id) => id !== message.id);
    if (message.type === "leave") return { askers: others };
    if (message.id === people.you) return { hasAsked: true };
    return people.holder === people.you ? { askers: [...others, message.id] } : {};
  }

  #refused(): void {
    const { people, refusedKeys } = this.#state;
    if (people === undefined) return;
    // Said once: a person who types on has heard it.
    const change =
      refusedKeys === 0 ? { news: this.#news(this.words.readOnly(keyboardWords(people, this.words))) } : {};
    this.#change({ ...change, refusedKeys: refusedKeys + 1 });
  }

  #news(text: string): ParticipantsState["news"] {
    return { text, count: this.#state.news.count + 1 };
  }

  #change(change: Partial<ParticipantsState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
