// Replays in the model what clients of the chaos kit saw: a file of its lines is the argument (`npm run chaos -- steps`).

import { readFileSync } from "node:fs";
import { noteCounts } from "../../../local/src/base/counts.ts";
import { replaySeen, type Seen } from "./seen.ts";

const lines = readFileSync(process.argv[2] ?? "", "utf8")
  .split("\n")
  .filter((line) => line !== "");
if (lines.length === 0) throw new Error("No session's steps were written: there were too few cuts");
let steps = 0;
for (const line of lines) steps += replaySeen(JSON.parse(line) as Seen);
console.log(`the model allows the ${steps} steps of ${lines.length} sessions`);
noteCounts({ "sessions replayed": lines.length, "steps replayed": steps });
