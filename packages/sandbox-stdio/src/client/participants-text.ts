// Texts for people about participants and the keyboard, shared by page and command line. Pure.

import type { ParticipantKind, ServerMessage } from "../wire/control.ts";
import { keyboardStateOf, mayGiveTo, type Participants, participantOf, soleTypistOf } from "./participants.ts";

/** The words that these texts consist of. */
export type ParticipantWords = {
  readonly nameless: string;
  /** The second and later participant of one name. */
  readonly numbered: (name: string, number: number) => string;
  readonly ofKind: (name: string, kind: ParticipantKind) => string;
  readonly joined: (name: string) => string;
  readonly joinedAsViewer: (name: string) => string;
  readonly left: (name: string) => string;
  /** Everybody who may type, if the keyboard is free. */
  readonly typists: string;
  readonly youAsked: (holder: string) => string;
  readonly asksYou: (name: string) => string;
  readonly asks: (name: string, holder: string) => string;
  readonly asksPerson: (writer: string, reason: string) => string;
  readonly asksNoMore: (writer: string) => string;
  readonly everyoneTypes: string;
  readonly youHold: string;
  readonly free: string;
  readonly holds: (name: string) => string;
  readonly viewer: string;
  readonly viewerWhile: (typist: string) => string;
};

export const PARTICIPANT_WORDS: ParticipantWords = {
  nameless: "Somebody",
  numbered: (name, number) => `${name} ${number}`,
  ofKind: (name, kind) => `${name} (${kind})`,
  joined: (name) => `${name} joined`,
  joinedAsViewer: (name) => `${name} joined as a viewer`,
  left: (name) => `${name} left`,
  typists: "everybody who types",
  youAsked: (holder) => `You have asked ${holder} for the keyboard`,
  asksYou: (name) => `${name} asks for the keyboard`,
  asks: (name, holder) => `${name} asks ${holder} for the keyboard`,
  asksPerson: (writer, reason) => `${writer} asks for you: ${reason}`,
  asksNoMore: (writer) => `${writer} asks no more`,
  everyoneTypes: "Everyone may type",
  youHold: "You have the keyboard",
  free: "The keyboard is free",
  holds: (name) => `${name} has the keyboard`,
  viewer: "You are a viewer",
  viewerWhile: (typist) => `You are a viewer; ${typist} types`,
};

/**
 * A participant's name for people; a guest's is always marked as one. Servers keep names unique; if two are equal anyway, the
 * later arrival gets a number.
 */
export function nameOf(people: Participants, id: string, words = PARTICIPANT_WORDS): string {
  const participant = participantOf(people, id);
  const name = participant?.name || words.nameless;
  const namesakes = people.participants.filter((other) => (other.name || words.nameless) === name);
  const at = namesakes.findIndex((other) => other.id === id);
  return marked(at > 0 ? words.numbered(name, at + 1) : name, participant?.kind, words);
}

function marked(name: string, kind: ParticipantKind | undefined, words: ParticipantWords): string {
  return kind === undefined || kind === "person" ? name : words.ofKind(name, kind);
}

/** Announces a message, if it matters to people. `people` is the state before it. */
export function announcementOf(
  people: Participants,
  message: ServerMessage,
  words = PARTICIPANT_WORDS,
): string | undefined {
  switch (message.type) {
    case "join": {
      const { id, name, role, kind } = message.participant;
      if (participantOf(people, id) !== undefined) return undefined;
      const who = marked(name || words.nameless, kind, words);
      return role === "viewer" ? words.joinedAsViewer(who) : words.joined(who);
    }
    case "leave":
      return participantOf(people, message.id) === undefined
        ? undefined
        : words.left(nameOf(people, message.id, words));
    case "stdin_holder":
      return holderAnnouncement(people, message.id, words);
    case "stdin_request": {
      const holder = people.holder === "" ? words.typists : nameOf(people, people.holder, words);
      if (message.id === people.you) return words.youAsked(holder);
      const asker = nameOf(people, message.id, words);
      const isYours = mayGiveTo({ ...people, requests: [message.id] }, message.id);
      return isYours ? words.asksYou(asker) : words.asks(asker, holder);
    }
    case "ask":
      return words.asksPerson(message.writer, message.reason);
    case "ask_state": {
      const ask = people.asks.find(({ id }) => id === message.id);
      return ask === undefined || message.answer === undefined ? undefined : words.asksNoMore(ask.writer);
    }
    default:
      return undefined;
  }
}

/** Who may type, in a few words; if this client may not, the reason. */
export function keyboardWords(people: Participants, words = PARTICIPANT_WORDS): string {
  switch (keyboardStateOf(people)) {
    case "shared":
      return words.everyoneTypes;
    case "yours":
      return words.youHold;
    case "free":
      return words.free;
    case "taken":
      return words.holds(nameOf(people, people.holder, words));
    case "none":
      return soleTypistOf(people) === "" ? words.viewer : words.viewerWhile(nameOf(people, people.holder, words));
  }
}

/** In collaborative mode only a driver that types alone is announced, and the end of that. */
function holderAnnouncement(people: Participants, holder: string, words: ParticipantWords): string | undefined {
  if (holder === people.holder) return undefined;
  const typist = soleTypistOf({ ...people, holder });
  if (typist !== "") return typist === people.you ? words.youHold : words.holds(nameOf(people, typist, words));
  if (people.mode === "exclusive") return words.free;
  return soleTypistOf(people) === "" ? undefined : keyboardWords({ ...people, holder }, words);
}

/** Warns people that the process's machine is going away (X8). */
export function stoppingWords(seconds: number): string {
  const left = seconds < 120 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min`;
  return `The sandbox stops in ${left}: what still runs then is ended, and nothing new is started in it`;
}
