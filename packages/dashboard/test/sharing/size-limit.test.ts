// Whose window gives the terminal its size. No browser.

import type { Participants } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { sizedBy } from "../../src/sharing/participants-model.ts";
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
