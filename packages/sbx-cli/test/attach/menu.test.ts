// What the keys behind Ctrl+^ mean, by who has the keyboard.

import type { Participant, Participants } from "sandbox-stdio/core";
import { describe, expect, test } from "vitest";
import { MENU_KEY, Menu } from "../../src/attach/menu.ts";

const [ann, bob, cleo]: Participant[] = [
  { id: "a", name: "Ann", role: "driver" },
  { id: "b", name: "Bob", role: "driver" },
  { id: "c", name: "Cleo", role: "viewer" },
];

function people(more: Partial<Participants> = {}): Participants {
  const participants = [ann, bob, cleo].filter((one) => one !== undefined);
  return { you: "a", mode: "exclusive", holder: "a", participants, requests: [], asks: [], echo: true, ...more };
}

const menu = (more: Partial<Participants> = {}, isSecret = false) => new Menu(people(more), isSecret);

const press = (menu: Menu, key: string) => menu.press(key.charCodeAt(0));

describe("the menu", () => {
  test("lists what makes sense now", () => {
    const rest = "p secret input on · w who is here · s status · i round trip · d detach · Ctrl+^ send Ctrl+^";
    expect(menu().text).toBe(`g give the keyboard · r release it · ${rest}`);
    expect(menu({ holder: "b" }).text).toBe(`a request the keyboard · t take the keyboard (admin) · ${rest}`);
    expect(menu({ holder: "" }).text).toBe(`a request the keyboard · ${rest}`);
    expect(menu({ mode: "collaborative" }).text).toBe(rest);
    expect(menu({ you: "c" }).text).toBe(
      "a ask to type · w who is here · s status · i round trip · d detach · Ctrl+^ send Ctrl+^",
    );
    expect(menu({ mode: "collaborative" }, true).text).toBe(rest.replace("on", "off"));
  });

  test("K2d: a program's keyboard is taken, not asked for", () => {
    const agent: Participant = { id: "p", name: "Agent", role: "driver", kind: "program" };
    const participants = [ann, agent].filter((one) => one !== undefined);
    const open = menu({ holder: "p", participants });
    expect(open.text).toMatch(/^a take the keyboard back · p secret/);
    expect(press(open, "a")).toEqual({ kind: "ask" });
  });

  test.each([
    ["a", "ask"],
    ["r", "release"],
    ["t", "take"],
    ["p", "secret"],
    ["w", "who"],
    ["s", "status"],
    ["i", "round_trip"],
    ["d", "detach"],
    [String.fromCharCode(MENU_KEY), "literal"],
    ["x", "nothing"],
    ["\x1b", "nothing"],
  ])("%j is %s", (key, kind) => expect(press(menu({ holder: "b" }), key)).toEqual({ kind }));

  test("says why the keyboard is not to be asked for where everyone may type, nor by a viewer by force", () => {
    const shared = { kind: "nothing", text: "everyone may type here" };
    expect(press(menu({ mode: "collaborative" }), "a")).toEqual(shared);
    expect(press(menu({ you: "c" }), "t")).toEqual({
      kind: "nothing",
      text: "a viewer can only ask to type",
    });
    expect(press(menu({ you: "c" }), "a")).toEqual({ kind: "ask" });
    const none = "a viewer has no input to keep secret";
    expect(press(menu({ you: "c" }), "p")).toEqual({ kind: "nothing", text: none });
  });
});

describe("giving the keyboard", () => {
  const dan: Participant = { id: "d", name: "Dan", role: "driver" };

  test("is to the only other driver, or to who asked first", () => {
    expect(press(menu(), "g")).toEqual({ kind: "give", to: "b" });
    const asked = people({ participants: [...people().participants, dan], requests: ["d", "b"] });
    expect(press(new Menu(asked, false), "g")).toEqual({ kind: "give", to: "d" });
  });

  test("takes a digit where there are several, and anything else gives it to nobody", () => {
    const many = people({ participants: [...people().participants, dan] });
    const menu = new Menu(many, false);
    expect(press(menu, "g")).toEqual({ kind: "more", text: "give the keyboard to: 1 Bob · 2 Dan" });
    expect(press(menu, "2")).toEqual({ kind: "give", to: "d" });
    const other = new Menu(many, false);
    press(other, "g");
    expect(press(other, "3")).toEqual({ kind: "nothing" });
  });

  test("needs it, and somebody to give it to", () => {
    expect(press(menu({ holder: "b" }), "g")).toEqual({
      kind: "nothing",
      text: "you don't have the keyboard",
    });
    const alone = people({ participants: people().participants.slice(0, 1) });
    expect(press(new Menu(alone, false), "g")).toEqual({ kind: "nothing", text: "there is no other driver" });
  });
});
