// Whose window gives the terminal a size that is not this window's (K4). Pure.

import { nameOf, otherDrivers, type Participants, soleTypistOf } from "sandbox-stdio/core";
import type { Texts } from "../texts/texts.ts";

/** The names of the people of whose windows the smallest counts, or of the one whose window does; empty if it is nobody else's. */
export function sizedBy(people: Participants | undefined, words: Texts["people"]): readonly string[] {
  if (people === undefined) return [];
  const sole = soleTypistOf(people);
  const those = otherDrivers(people).filter(({ id }) => sole === "" || id === sole);
  return those.map(({ id }) => nameOf(people, id, words));
}
