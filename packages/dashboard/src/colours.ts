// The colours of people: one for each client, the same on every page. Pure.

import { colourIndex } from "sandbox-stdio/core";

/** Told apart on the dark ground, and by people who see few colours by their lightness too. */
const COLOURS = ["#ff9dae", "#f2c46d", "#7ee2a8", "#6fd9e8", "#8ab4ff", "#d6a1ff", "#ffb38a", "#c9e07a"] as const;

export function colourOf(id: string): string {
  return COLOURS[colourIndex(id, COLOURS.length)] ?? COLOURS[0];
}
