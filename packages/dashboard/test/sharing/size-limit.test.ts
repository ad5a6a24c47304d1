// Whose window gives the terminal its size. No browser.

import type { Participants } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { isOwnWindowSizing, sizedBy } from "../../src/sharing/participants-model.ts";
import { ENGLISH } from "../../src/texts/texts.ts";

const PEOPLE: Participants = {
  you: "a",
  mode: "collaborative",
  holder: "",
  requests: [],
  asks: [],
  echo: true,
  participants: [
    { id: "a", name: "Ann", role: "driver" },
    { id: "b", name: "Bob", role: "driver" },
    { id: "c", name: "Cleo", role: "viewer" },
    { id: "d", name: "Dan", role: "driver" },
  ],
};

test("K4: of a shared keyboard it is the smallest of the other drivers', else the holder's, and never a viewer's", () => {
  expect(sizedBy(PEOPLE, ENGLISH.people)).toEqual(["Bob", "Dan"]);
  expect(sizedBy({ ...PEOPLE, you: "c" }, ENGLISH.people)).toEqual(["Ann", "Bob", "Dan"]);
  expect(sizedBy({ ...PEOPLE, mode: "exclusive", holder: "d" }, ENGLISH.people)).toEqual(["Dan"]);
  expect(sizedBy({ ...PEOPLE, mode: "exclusive", holder: "a" }, ENGLISH.people)).toEqual([]);
  expect(sizedBy(undefined, ENGLISH.people)).toEqual([]);
  expect([["Bob"], ["Bob", "Dan"], ["Ann", "Bob", "Dan"]].map(ENGLISH.bar.sizedBy)).toEqual([
    "by Bob",
    "by Bob or Dan",
    "by 3 others",
  ]);
});

test("K4a: the size is to be had where another window of the same person types, and no one types alone", () => {
  const own = {
    ...PEOPLE,
    participants: PEOPLE.participants
      .map((one) => (one.id === "a" ? { ...one, person: "Ann" } : one))
      .concat({ id: "e", name: "Ann (2)", role: "driver", person: "Ann" }),
  };
  expect(isOwnWindowSizing(own)).toBe(true);
  expect(sizedBy(own, ENGLISH.people)).toEqual(["Bob", "Dan", "your other window"]);
  expect(sizedBy({ ...own, you: "b" }, ENGLISH.people)).toEqual(["Ann", "Dan"]);
  // Somebody else of that name.
  const namesake = { id: "f", name: "Ann (2)", role: "driver" as const };
  expect(isOwnWindowSizing({ ...PEOPLE, participants: [...PEOPLE.participants, namesake] })).toBe(false);
  expect(isOwnWindowSizing(PEOPLE)).toBe(false);
  expect(isOwnWindowSizing({ ...own, you: "c" })).toBe(false);
  expect(isOwnWindowSizing({ ...own, mode: "exclusive", holder: "e" })).toBe(false);
  expect(isOwnWindowSizing(undefined)).toBe(false);
});
