// Refusals, counted where they are made, in the isolate's memory. Knows nothing of the platform.

import { Counts } from "./counts.ts";

export const refusals = new Counts();

/** @param code Of the close, or 4000 and the HTTP status. */
export function countRefusal(code: number): void {
  refusals.refused(code);
}
