// The colours of people: one for each client, the same on every page. Pure; the colours themselves are in ground.css.

import { colourIndex } from "sandbox-stdio/core";

/** How many there are. */
export const COLOURS = 12;

/**
 * The colour of each, in the order in which they came: no two have the same as long as there are enough. Clients that know the
 * same people get the same answer.
 */
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
