// The people whose windows set the terminal's size (K4). Pure.

import { nameOf, otherDrivers, type Participants, soleTypistOf } from "sandbox-stdio/core";
import type { Texts } from "../texts/texts.ts";

/** The names of the others whose windows limit the size. */
export function sizedBy(people: Participants | undefined, words: Texts["people"]): readonly string[] {
  if (people === undefined) return [];
  const sole = soleTypistOf(people);
  const others = otherDrivers(people).filter(({ id }) => sole === "" || id === sole);
  return others.map(({ id }) => nameOf(people, id, words));
}
