// The menu on Ctrl+^ while attached: its keys and what they do now. Pure.

import {
  keyboardStateOf,
  mayGiveTo,
  nameOrYours,
  type Participants,
  personsOf,
  yieldsKeyboard,
} from "sandbox-stdio/core";

export type MenuAction =
  | { readonly kind: "ask" | "release" | "take" | "secret" | "who" | "status" | "round_trip" | "detach" | "literal" }
  | { readonly kind: "decline"; readonly id: string }
  | { readonly kind: "give"; readonly to: string }
  /** Waits for another key, as `text` explains. */
  | { readonly kind: "more"; readonly text: string }
  /** Does nothing, for the reason in `text` if there is one. */
  | { readonly kind: "nothing"; readonly text?: string };

/** Ctrl+^ (Ctrl+6 on many keyboards). Pressed twice it is sent to the process. */
export const MENU_KEY = 0x1e;
const MAX_CHOICES = 9;

export class Menu {
  readonly #people: Participants;
  readonly #isSecret: boolean;
  /** Clients to give the keyboard to, while the menu waits for a digit. */
  #choices: readonly string[] = [];

  /** @param isSecret Whether secret input is on. */
  constructor(people: Participants, isSecret: boolean) {
    this.#people = people;
    this.#isSecret = isSecret;
  }

  /** The actions that are possible now. */
  get text(): string {
    const keyboard = keyboardStateOf(this.#people);
    const mayYield = yieldsKeyboard(this.#people);
    const keys = ["w who is here", "s status", "i round trip", "d detach", "Ctrl+^ send Ctrl+^"];
    if (keyboard !== "none") keys.unshift(`p secret input ${this.#isSecret ? "off" : "on"}`);
    if (keyboard === "yours") keys.unshift("g give the keyboard", "r release it");
    if (!mayYield && keyboard === "taken") keys.unshift("t take the keyboard (admin)");
    if (this.#asked !== undefined) keys.unshift("a take the keyboard for the program", "n decline");
    else if (mayYield) keys.unshift("a take the keyboard back");
    else if (keyboard === "none") keys.unshift("a ask to type");
    else if (keyboard === "free" || keyboard === "taken") keys.unshift("a request the keyboard");
    return keys.join(" · ");
  }

  /** @param key The byte of the key that was pressed. */
  press(key: number): MenuAction {
    if (this.#choices.length > 0) return this.#choose(key);
    switch (String.fromCharCode(key)) {
      case "a":
        return this.#asked === undefined ? this.#ifKeyboard({ kind: "ask" }) : { kind: "ask" };
      case "n":
        return this.#asked === undefined ? { kind: "nothing" } : { kind: "decline", id: this.#asked };
      case "r":
        return this.#ifKeyboard({ kind: "release" });
      case "t":
        return this.#ifKeyboard({ kind: "take" });
      case "g":
        return this.#give();
      case "p":
        return keyboardStateOf(this.#people) === "none"
          ? { kind: "nothing", text: "a viewer has no input to keep secret" }
          : { kind: "secret" };
      case "w":
        return { kind: "who" };
      case "s":
        return { kind: "status" };
      case "i":
        return { kind: "round_trip" };
      case "d":
        return { kind: "detach" };
      case String.fromCharCode(MENU_KEY):
        return { kind: "literal" };
      default:
        return { kind: "nothing" };
    }
  }

  /** The ask of a program that this person may answer. */
  get #asked(): string | undefined {
    const { asks, you } = this.#people;
    return keyboardStateOf(this.#people) === "none" ? undefined : asks.find(({ by = you }) => by === you)?.id;
  }

  #ifKeyboard(action: MenuAction): MenuAction {
    const keyboard = keyboardStateOf(this.#people);
    if (keyboard === "shared") return { kind: "nothing", text: "everyone may type here" };
    const isRefused = keyboard === "none" && action.kind !== "ask";
    return isRefused ? { kind: "nothing", text: "a viewer can only ask to type" } : action;
  }

  /** Gives the keyboard to the first client that requested it, else to the only other one, else asks which. */
  #give(): MenuAction {
    const people = this.#people;
    // A person with several windows gets it in the one that asked, else in the first.
    const others = personsOf(people).flatMap((windows) => {
      const may = windows.map(({ id }) => id).filter((id) => mayGiveTo(people, id));
      return may.find((id) => people.requests.includes(id)) ?? may[0] ?? [];
    });
    if (others.length === 0 && keyboardStateOf(people) !== "yours") {
      return this.#ifKeyboard({ kind: "nothing", text: "you don't have the keyboard" });
    }
    const to = this.#people.requests.find((id) => others.includes(id)) ?? (others.length === 1 ? others[0] : undefined);
    if (to !== undefined) return { kind: "give", to };
    if (others.length === 0) return { kind: "nothing", text: "there is no other driver" };
    this.#choices = others.slice(0, MAX_CHOICES);
    const list = this.#choices.map((id, i) => `${i + 1} ${nameOrYours(people, id)}`).join(" · ");
    return { kind: "more", text: `give the keyboard to: ${list}` };
  }

  #choose(key: number): MenuAction {
    const to = this.#choices[key - 0x31];
    return to === undefined ? { kind: "nothing" } : { kind: "give", to };
  }
}
