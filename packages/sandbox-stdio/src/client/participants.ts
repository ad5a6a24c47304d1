// The participants of a session and the right to type there, as one of its clients knows them: made of the greeting and of the
// announcements after it. Pure; the words for a person are in participants-text.ts.

import type { Asked, Hello, Participant, ServerMessage } from "../wire/control.ts";
import { defined } from "../wire/fields.ts";
import type { Mode } from "../wire/terms.ts";

export type Participants = {
  /** This client's own id. */
  readonly you: string;
  readonly mode: Mode;
  /** All participants, this client among them, in the order in which they came. */
  readonly participants: readonly Participant[];
  /** The client that holds the keyboard; "" if it is free. */
  readonly holder: string;
  /** The clients that have asked for the keyboard since it last changed hands, oldest first. */
  readonly requests: readonly string[];
  /** Programs that ask for a person, oldest first; `by` is the client that has taken it. */
  readonly asks: readonly OpenAsk[];
  /** Whether the terminal shows what is typed. */
  readonly echo: boolean;
  /** The last text that each program typed, as far as this client was told. */
  readonly typed?: Readonly<Record<string, string>>;
};

export type OpenAsk = Asked & { readonly by?: string };

/**
 * This client's options with the keyboard: type, as every driver may (`shared`) or alone (`yours`); have it for the asking
 * (`free`); ask the holder for it (`taken`); nothing, as a viewer (`none`).
 */
export type KeyboardState = "shared" | "yours" | "free" | "taken" | "none";

export function participantsOf(hello: Hello): Participants {
  const { you, mode, holder, participants } = hello;
  return { you: you.id, mode, holder, participants, requests: [], asks: [], echo: true };
}

/** The state after a message: the same object if the message changes nothing. */
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

/** The client that alone may type now, by the mode, since it relies on that (D9b) or has taken an ask (K12); "" for none. */
export function soleTypistOf(people: Participants): string {
  const isAlone = people.mode === "exclusive" || participantOf(people, people.holder)?.alone === true;
  return isAlone || people.asks.some(({ by }) => by === people.holder) ? people.holder : "";
}

/** The ask that this client has taken, a secret one first; undefined if none. */
export function yourAsk({ asks, you }: Participants): OpenAsk | undefined {
  const yours = asks.filter(({ by }) => by === you);
  return yours.find(({ secret }) => secret) ?? yours[0];
}

export function keyboardStateOf(people: Participants): KeyboardState {
  const you = participantOf(people, people.you);
  if (you?.role !== "driver") return "none";
  if (people.mode === "collaborative" && soleTypistOf(people) === "") return "shared";
  if (people.holder === people.you) return "yours";
  return people.holder === "" ? "free" : "taken";
}

/** Whether the keyboard is a program's that yields it to a person at once (K2d). */
export function yieldsKeyboard(people: Participants): boolean {
  if (keyboardStateOf(people) !== "taken") return false;
  const isPerson = (participantOf(people, people.you)?.kind ?? "person") === "person";
  return isPerson && participantOf(people, people.holder)?.kind === "program";
}

/** Whether this client's input reaches the process. The server decides; this only spares a person the refusal. */
export function mayType(people: Participants): boolean {
  const keyboard = keyboardStateOf(people);
  return keyboard === "shared" || keyboard === "yours";
}

export function participantOf(people: Participants, id: string): Participant | undefined {
  return people.participants.find((participant) => participant.id === id);
}

/** The other clients that can be given the keyboard. */
export function otherDrivers(people: Participants): readonly Participant[] {
  return people.participants.filter(({ id, role }) => id !== people.you && role === "driver");
}

/** Which of `count` colours a client has: the same on every screen, and after it came back. */
export function colourIndex(id: string, count: number): number {
  // FNV-1a: ids differ in few characters, and the colours should not be neighbours for that.
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i += 1) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193) >>> 0;
  return ((hash ^ (hash >>> 15)) >>> 0) % count;
}
