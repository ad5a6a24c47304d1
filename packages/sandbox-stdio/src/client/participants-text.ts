// Texts for people about participants and the keyboard, shared by page and command line. Pure.

import type { Participant, ParticipantKind, ServerMessage } from "../wire/control.ts";
import {
  isYourOther,
  keyboardStateOf,
  mayGiveTo,
  type Participants,
  participantOf,
  personKey,
  personsOf,
  soleTypistOf,
} from "./participants.ts";

/** The words that these texts consist of. */
export type ParticipantWords = {
  readonly nameless: string;
  /** Another window of your own, at the start of a sentence and within it. */
  readonly yourOtherFirst: string;
  readonly yourOther: string;
  /** The second and later person of one name. */
  readonly numbered: (name: string, number: number) => string;
  readonly ofKind: (name: string, kind: ParticipantKind) => string;
  readonly joined: (name: string) => string;
  readonly joinedAsViewer: (name: string) => string;
  readonly left: (name: string) => string;
  /** One more window of a person who is here, and one less. */
  readonly opened: (name: string) => string;
  readonly closed: (name: string) => string;
  readonly youOpened: string;
  readonly youClosed: string;
  /** Everybody who may type, if the keyboard is free. */
  readonly typists: string;
  readonly youAsked: (holder: string) => string;
  readonly asksYou: (name: string) => string;
  readonly asks: (name: string, holder: string) => string;
  readonly asksPerson: (writer: string, reason: string) => string;
  readonly asksNoMore: (writer: string) => string;
  readonly everyoneTypes: string;
  readonly youHold: string;
  readonly youHoldElsewhere: string;
  readonly free: string;
  readonly holds: (name: string) => string;
  readonly viewer: string;
  readonly viewerWhile: (typist: string) => string;
};

export const PARTICIPANT_WORDS: ParticipantWords = {
  nameless: "Somebody",
  yourOtherFirst: "Your other window",
  yourOther: "your other window",
  numbered: (name, number) => `${name} ${number}`,
  ofKind: (name, kind) => `${name} (${kind})`,
  joined: (name) => `${name} joined`,
  joinedAsViewer: (name) => `${name} joined as a viewer`,
  left: (name) => `${name} left`,
  opened: (name) => `${name} opened another window`,
  closed: (name) => `${name} closed a window`,
  youOpened: "You opened another window",
  youClosed: "You closed another window",
  typists: "everybody who types",
  youAsked: (holder) => `You have asked ${holder} for the keyboard`,
  asksYou: (name) => `${name} asks for the keyboard`,
  asks: (name, holder) => `${name} asks ${holder} for the keyboard`,
  asksPerson: (writer, reason) => `${writer} asks for you: ${reason}`,
  asksNoMore: (writer) => `${writer} asks no more`,
  everyoneTypes: "Everyone may type",
  youHold: "You have the keyboard",
  youHoldElsewhere: "You have the keyboard in another window",
  free: "The keyboard is free",
  holds: (name) => `${name} has the keyboard`,
  viewer: "You are a viewer",
  viewerWhile: (typist) => `You are a viewer; ${typist} types`,
};

/**
 * The name of a participant's person, the same for all of its windows; a guest's is always marked as one. Servers keep names
 * unique; if two persons' are equal anyway, the later arrival gets a number.
 */
export function nameOf(people: Participants, id: string, words = PARTICIPANT_WORDS): string {
  const participant = participantOf(people, id);
  const nameHere = (other: Participant | undefined) => other?.person || other?.name || words.nameless;
  const name = nameHere(participant);
  const namesakes = personsOf(people).filter(([first]) => nameHere(first) === name);
  const at = namesakes.findIndex((windows) => windows.some((other) => other.id === id));
  return marked(at > 0 ? words.numbered(name, at + 1) : name, participant?.kind, words);
}

/** The same, but of your own other windows as such. */
export function nameOrYours(people: Participants, id: string, words = PARTICIPANT_WORDS, isFirst = false): string {
  if (!isYourOther(people, id)) return nameOf(people, id, words);
  return isFirst ? words.yourOtherFirst : words.yourOther;
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
    case "join":
      return joinAnnouncement(people, message.participant, words);
    case "leave": {
      const { id } = message;
      const gone = participantOf(people, id);
      if (gone === undefined) return undefined;
      if (isYourOther(people, id)) return words.youClosed;
      return (windowsOf(people, gone).length > 1 ? words.closed : words.left)(nameOf(people, id, words));
    }
    case "stdin_holder":
      return holderAnnouncement(people, message.id, words);
    case "stdin_request": {
      const holder = people.holder === "" ? words.typists : nameOrYours(people, people.holder, words);
      if (message.id === people.you) return words.youAsked(holder);
      const asker = nameOrYours(people, message.id, words, true);
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

function joinAnnouncement(people: Participants, arrived: Participant, words: ParticipantWords): string | undefined {
  const { id, role, kind } = arrived;
  if (participantOf(people, id) !== undefined) return undefined;
  const before = windowsOf(people, arrived);
  if (before.some((window) => window.id === people.you)) return words.youOpened;
  const who = marked(arrived.person || arrived.name || words.nameless, kind, words);
  if (before.length > 0) return words.opened(who);
  return role === "viewer" ? words.joinedAsViewer(who) : words.joined(who);
}

/** The windows here of the person whose window this is. */
function windowsOf(people: Participants, window: Participant): readonly Participant[] {
  return people.participants.filter((other) => personKey(other) === personKey(window));
}

function holdsWords(people: Participants, id: string, words: ParticipantWords): string {
  return isYourOther(people, id) ? words.youHoldElsewhere : words.holds(nameOf(people, id, words));
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
      return holdsWords(people, people.holder, words);
    case "none":
      if (soleTypistOf(people) === "") return words.viewer;
      return words.viewerWhile(nameOrYours(people, people.holder, words));
  }
}

/** In collaborative mode only a driver that types alone is announced, and the end of that. */
function holderAnnouncement(people: Participants, holder: string, words: ParticipantWords): string | undefined {
  if (holder === people.holder) return undefined;
  const typist = soleTypistOf({ ...people, holder });
  if (typist !== "") return typist === people.you ? words.youHold : holdsWords(people, typist, words);
  if (people.mode === "exclusive") return words.free;
  return soleTypistOf(people) === "" ? undefined : keyboardWords({ ...people, holder }, words);
}

/** Warns people that the process's machine is going away (X8). */
export function stoppingWords(seconds: number): string {
  const left = seconds < 120 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min`;
  return `The sandbox stops in ${left}: what still runs then is ended, and nothing new is started in it`;
}
