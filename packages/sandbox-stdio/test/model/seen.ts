// A client's view of a session, replayed in the model. Its other parts were not recorded: they take any step that the model allows.

import { replay } from "./replay.ts";

/** Steps of a client, in bytes of the output of the process. */
export type Seen = { readonly output: number; readonly input: number; readonly steps: readonly string[] };

/** So few are the output's bytes in the model: each stands for a part of it, and comes with the last byte of that part. */
const UNITS = 2;

/** @returns How many steps of the model there were. @throws {Error} The step that is not allowed. */
export function replaySeen({ output, input, steps }: Seen): number {
  const unitsAt = (offset: number) => (offset >= output ? UNITS : Math.floor((offset * UNITS) / output));
  const at = { hears: 0, processes: 0 };
  const seen = steps.flatMap((step) => {
    const [what = "", text] = step.split(" ");
    const offset = Number(text);
    if (what === "greeted") {
      at.hears = offset;
      return [`greeted ${unitsAt(offset)}`];
    }
    if ((what !== "hears" && what !== "processes") || text === "exit") return [step];
    const from = unitsAt(at[what]);
    at[what] = Math.max(at[what], offset);
    return Array.from({ length: unitsAt(at[what]) - from }, (_, i) => `${what} ${from + i}`);
  });
  replay(seen, { output: UNITS, input, isParked: true, isHalfSeen: true }, 0);
  return seen.length;
}
