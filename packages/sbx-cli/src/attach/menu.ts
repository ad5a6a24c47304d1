// The menu behind Ctrl+^ while attached: its keys, and their meaning now. Pure.

import { keyboardStateOf, nameOf, otherDrivers, type Participants, yieldsKeyboard } from "sandbox-stdio/core";

export type MenuAction =
  | { readonly kind: "ask" | "release" | "take" | "secret" | "who" | "status" | "round_trip" | "detach" | "literal" }
  | { readonly kind: "give"; readonly to: string }
  /** Another key is needed; `text` says which. */
  | { readonly kind: "more"; readonly text: string }
  /** Nothing is done, and `text` says why, where there is something to say. */
  | { readonly kind: "nothing"; readonly text?: string };

/** Ctrl+^, which is Ctrl+6 on many keyboards. Pressed twice it is sent. */
export const MENU_KEY = 0x1e;
const MAX_CHOICES = 9;

export class Menu {
  readonly #people: Participants;
  readonly #isSecret: boolean;
  /** The clients that may be given the keyboard, while a digit is awaited. */
  #choices: readonly string[] = [];

  /** @param isSecret Whether typed text is being kept off the record. */
  constructor(people: Participants, isSecret: boolean) {
    this.#people = people;
    this.#isSecret = isSecret;
  }

  /** Only the actions that make sense now. */
  get text(): string {
    const keyboard = keyboardStateOf(this.#people);
    const keys = [
      ...(yieldsKeyboard(this.#people) ? ["a take the keyboard from the program"] : []),
      ...(!yieldsKeyboard(this.#people) && (keyboard === "free" || keyboard === "taken")
        ? ["a ask for the keyboard"]
        : []),
      ...(!yieldsKeyboard(this.#people) && keyboard === "taken" ? ["t take it (admin)"] : []),
      ...(keyboard === "yours" ? ["g give the keyboard", "r release it"] : []),
      ...(keyboard === "none" ? [] : [`p secret input ${this.#isSecret ? "off" : "on"}`]),
      "w who is here",
      "s status",
      "i round trip",
      "d detach",
      "Ctrl+^ send Ctrl+^",
    ];
    return keys.join(" · ");
  }

  /** @param key The byte of the key that was pressed. */
  press(key: number): MenuAction {
    if (this.#choices.length > 0) return this.#choose(key);
    switch (String.fromCharCode(key)) {
      case "a":
        return this.#ifKeyboard({ kind: "ask" });
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

  #ifKeyboard(action: MenuAction): MenuAction {
    const keyboard = keyboardStateOf(this.#people);
    if (keyboard === "shared") return { kind: "nothing", text: "everyone may type here" };
    return keyboard === "none" ? { kind: "nothing", text: "a viewer can't have the keyboard" } : action;
  }

  /** To the client that asked first; else to the only one; else a digit chooses the client. */
  #give(): MenuAction {
    if (keyboardStateOf(this.#people) !== "yours") {
      return this.#ifKeyboard({ kind: "nothing", text: "the keyboard is not yours to give" });
    }
    const others = otherDrivers(this.#people).map(({ id }) => id);
    const to = this.#people.requests.find((id) => others.includes(id)) ?? (others.length === 1 ? others[0] : undefined);
    if (to !== undefined) return { kind: "give", to };
    if (others.length === 0) return { kind: "nothing", text: "there is nobody to give it to" };
    this.#choices = others.slice(0, MAX_CHOICES);
    const list = this.#choices.map((id, i) => `${i + 1} ${nameOf(this.#people, id)}`).join(" · ");
    return { kind: "more", text: `give the keyboard to: ${list}` };
  }

  #choose(key: number): MenuAction {
    const to = this.#choices[key - 0x31];
    return to === undefined ? { kind: "nothing" } : { kind: "give", to };
  }
}
