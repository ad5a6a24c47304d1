// A session's participants and their right to type, as one client knows them from the greeting and later messages. Pure; the
// texts are in participants-text.ts.

import type { Asked, Hello, Participant, ServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import type { Mode } from "../wire/terms.ts";

export type Participants = {
  /** This client's id. */
  readonly you: string;
  readonly mode: Mode;
  /** All participants including this client, in the order of arrival. */
  readonly participants: readonly Participant[];
  /** Id of the client that holds the keyboard; "" if it is free. */
  readonly holder: string;
  /** Ids of clients that have requested the keyboard since it last moved, oldest first. */
  readonly requests: readonly string[];
  /** Open asks of programs for a person, oldest first; `by` is the client that has taken the ask. */
  readonly asks: readonly OpenAsk[];
  /** Whether the terminal echoes typed text. */
  readonly echo: boolean;
  /** The last text typed by each program, as far as known. */
  readonly typed?: Readonly<Record<string, string>>;
};

export type OpenAsk = Asked & { readonly by?: string };

/**
 * What this client may do: type, with every driver (`shared`) or alone (`yours`); take the keyboard (`free`); request it from the
 * holder (`taken`); nothing, as a viewer (`none`).
 */
export type KeyboardState = "shared" | "yours" | "free" | "taken" | "none";

export function participantsOf(hello: Hello): Participants {
  const { you, mode, holder, participants } = hello;
  return { you: you.id, mode, holder, participants, requests: [], asks: [], echo: true };
}

/** The state after a message; the same object if nothing changes. */
export function followParticipants(people: Participants, message: ServerMessage): Participants {
  switch (message.type) {
    case "join": {
      const { participant } = message;
      const others = people.participants.filter(({ id }) => id !== participant.id);
      return { ...people, participants: [...others, participant] };
    }
    case "leave":
      return {
        ...people,
        participants: people.participants.filter(({ id }) => id !== message.id),
        requests: people.requests.filter((id) => id !== message.id),
      };
    case "typed":
      return { ...people, typed: { ...people.typed, [message.id]: message.text } };
    case "stdin_holder":
      return { ...people, holder: message.id, requests: [] };
    case "stdin_request":
      return people.requests.includes(message.id) ? people : { ...people, requests: [...people.requests, message.id] };
    case "ask": {
      const { type: _, ...ask } = message;
      return { ...people, asks: [...people.asks.filter(({ id }) => id !== ask.id), ask] };
    }
    case "ask_state": {
      const { id, by, answer } = message;
      if (answer !== undefined) return { ...people, asks: people.asks.filter((ask) => ask.id !== id) };
      return { ...people, asks: people.asks.map((ask) => (ask.id === id ? { ...ask, ...defined({ by }) } : ask)) };
    }
    case "echo":
      return { ...people, echo: message.on };
    default:
      return people;
  }
}

/** Id of the only client that may type, by the mode, since it holds alone (D9b), took an ask (K12) or is a viewer (K15); "" if none. */
export function soleTypistOf(people: Participants): string {
  const holder = participantOf(people, people.holder);
  const isAlone = people.mode === "exclusive" || holder?.alone === true || holder?.role === "viewer";
  return isAlone || people.asks.some(({ by }) => by === people.holder) ? people.holder : "";
}

/** Other clients that drive. */
export function otherDrivers(people: Participants): readonly Participant[] {
  return people.participants.filter(({ id, role }) => id !== people.you && role === "driver");
}

/** The ask that this client has taken, preferably a secret one; undefined if there is none. */
export function yourAsk({ asks, you }: Participants): OpenAsk | undefined {
  const yours = asks.filter(({ by }) => by === you);
  return yours.find(({ secret }) => secret) ?? yours[0];
}

export function keyboardStateOf(people: Participants): KeyboardState {
  const you = participantOf(people, people.you);
  if (you?.role !== "driver") return you !== undefined && people.holder === you.id ? "yours" : "none";
  if (people.mode === "collaborative" && soleTypistOf(people) === "") return "shared";
  if (people.holder === people.you) return "yours";
  return people.holder === "" ? "free" : "taken";
}

/** Whether the holder yields the keyboard to a person at once: a program (K2d), or a viewer (K15). */
export function yieldsKeyboard(people: Participants): boolean {
  if (keyboardStateOf(people) !== "taken") return false;
  const isPerson = (participantOf(people, people.you)?.kind ?? "person") === "person";
  const holder = participantOf(people, people.holder);
  return isPerson && (holder?.kind === "program" || holder?.role === "viewer");
}

/** Whether this client may give another the keyboard: a holder to any driver, who may type to a viewer that asks (K15). */
export function mayGiveTo(people: Participants, id: string): boolean {
  const [you, receiver] = [participantOf(people, people.you), participantOf(people, id)];
  if (receiver === undefined || receiver === you) return false;
  if (receiver.role === "driver") return keyboardStateOf(people) === "yours";
  return you?.role === "driver" && mayType(people) && people.requests.includes(id);
}

/** Whether this client's input reaches the process. The server decides; this only avoids a refusal. */
export function mayType(people: Participants): boolean {
  const keyboard = keyboardStateOf(people);
  return keyboard === "shared" || keyboard === "yours";
}

export function participantOf(people: Participants, id: string): Participant | undefined {
  return people.participants.find((participant) => participant.id === id);
}

/** The same text for all windows of one person; a guest, a program and a client of an older server each have their own. */
export function personKey({ id, person }: Participant): string {
  return person === undefined ? id : `person ${person}`;
}

/** Everybody who is here, each with all of its windows, in the order of arrival. */
export function personsOf({ participants }: Participants): readonly (readonly Participant[])[] {
  const persons = new Map<string, Participant[]>();
  for (const participant of participants) {
    const key = personKey(participant);
    persons.set(key, [...(persons.get(key) ?? []), participant]);
  }
  return [...persons.values()];
}

/** Whether this is another window of your own. */
export function isYourOther(people: Participants, id: string): boolean {
  const [you, other] = [participantOf(people, people.you), participantOf(people, id)];
  return you !== other && you?.person !== undefined && you.person === other?.person;
}

/** Which of `count` colours a person has, or a client: the same on every screen, and after it reconnects. */
export function colourIndex(id: string, count: number): number {
  // FNV-1a: ids differ in few characters, and their colours should still differ clearly.
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193) >>> 0;
  return ((hash ^ (hash >>> 15)) >>> 0) % count;
}
