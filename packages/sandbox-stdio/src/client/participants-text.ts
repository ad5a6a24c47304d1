// What a person is told of who is here and who types: the same words in the page and on the command line. Pure.

import type { ParticipantKind, ServerMessage } from "../wire/control.ts";
import { keyboardStateOf, type Participants, participantOf, soleTypistOf } from "./participants.ts";

const NAMELESS = "Somebody";

/**
 * A name for a person to read: what a guest calls itself never stands without saying that it is one. Those who have the same
 * (nobody does who has a name, since servers see to that) are told apart by a number, in the order in which they came.
 */
export function nameOf(people: Participants, id: string): string {
  const participant = participantOf(people, id);
  const name = participant?.name || NAMELESS;
  const namesakes = people.participants.filter((other) => (other.name || NAMELESS) === name);
  const at = namesakes.findIndex((other) => other.id === id);
  return marked(at > 0 ? `${name} ${at + 1}` : name, participant?.kind);
}

function marked(name: string, kind: ParticipantKind | undefined): string {
  return kind === undefined || kind === "person" ? name : `${name} (${kind})`;
}

/** What has just happened, where somebody would want to know. `people` is what was known before the message. */
export function announcementOf(people: Participants, message: ServerMessage): string | undefined {
  switch (message.type) {
    case "join": {
      const { id, name, role, kind } = message.participant;
      if (participantOf(people, id) !== undefined) return undefined;
      return `${marked(name || NAMELESS, kind)} joined${role === "viewer" ? " as a viewer" : ""}`;
    }
    case "leave":
      return participantOf(people, message.id) === undefined ? undefined : `${nameOf(people, message.id)} left`;
    case "stdin_holder":
      return holderNews(people, message.id);
    case "stdin_request":
      if (message.id === people.you) return `You have asked ${nameOf(people, people.holder)} for the keyboard`;
      if (people.holder === people.you) return `${nameOf(people, message.id)} asks for the keyboard`;
      return `${nameOf(people, message.id)} asks ${nameOf(people, people.holder)} for the keyboard`;
    default:
      return undefined;
  }
}

/** Who may type, in a few words; where this client may not, that is the reason. */
export function keyboardWords(people: Participants): string {
  switch (keyboardStateOf(people)) {
    case "shared":
      return "Everyone may type";
    case "yours":
      return "You have the keyboard";
    case "free":
      return "The keyboard is free";
    case "taken":
      return `${nameOf(people, people.holder)} has the keyboard`;
    case "none":
      return soleTypistOf(people) === ""
        ? "You are a viewer"
        : `You are a viewer; ${nameOf(people, people.holder)} types`;
  }
}

/** Where everybody types, only that somebody types alone from now on, or no more. */
function holderNews(people: Participants, holder: string): string | undefined {
  if (holder === people.holder) return undefined;
  const typist = soleTypistOf({ ...people, holder });
  if (typist !== "")
    return typist === people.you ? "You have the keyboard" : `${nameOf(people, typist)} has the keyboard`;
  if (people.mode === "exclusive") return "The keyboard is free";
  return soleTypistOf(people) === "" ? undefined : keyboardWords({ ...people, holder });
}
