// Replays in the model every run of a small exchange with one fault: by its name, `some` of three, or of any.

import { Explorer } from "../exploration/explorer.ts";
import { TRACED } from "../exploration/scenarios.ts";
import { replay } from "./replay.ts";

const { plan, faults } = TRACED;
const [party] = plan.parties;
const traced = { output: plan.process.outputBytes, input: party?.inputBytes ?? 0 };
const SOME = /^(cut outer 0 loses true,true heard true|cut inner loses true,true heard false|restart relay told true)/;
const wanted = process.argv[2] ?? "whole";
const isWanted = (name: string) => wanted === "whole" || (wanted === "some" ? SOME.test(name) : name === wanted);
const menu = faults.filter(({ name }) => isWanted(name));
let steps = 0;
const explored = new Explorer(plan, menu, (trace, broken) => {
  steps += trace.length;
  try {
    replay(trace, traced, /inner|relay/.test(broken) ? 1 : 0);
  } catch (error) {
    throw new Error(`after [${broken}]: ${error instanceof Error ? error.message : String(error)}`);
  }
}).explore(1);
console.log(JSON.stringify({ runs: explored.runs, steps }));
