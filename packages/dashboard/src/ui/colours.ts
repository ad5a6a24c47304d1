// Colours of participants, the same on every page. The values are in base.css. Pure.

import { colourIndex } from "sandbox-stdio/core";

export const COLOURS = 12;

/** A colour for each participant in order of arrival, distinct as long as there are enough. Deterministic. */
export function coloursOf(participants: readonly { readonly id: string }[]): number[] {
  const taken = new Set<number>();
  return participants.map(({ id }) => {
    if (taken.size === COLOURS) taken.clear();
    let colour = colourIndex(id, COLOURS);
    while (taken.has(colour)) colour = (colour + 1) % COLOURS;
    taken.add(colour);
    return colour;
  });
}
