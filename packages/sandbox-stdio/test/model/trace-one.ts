// Replays in the model every run of a small exchange with one fault: by its name, in the smallest one; `some` of three, or of any.

import { Explorer } from "../exploration/explorer.ts";
import { TRACED } from "../exploration/scenarios.ts";
import type { Plan } from "../simulation/plan.ts";
import { replay } from "./replay.ts";

const wanted = process.argv[2] ?? "whole";
const { faults } = TRACED;
const isByName = wanted !== "whole" && wanted !== "some";
const plan = isByName ? ofOneByte(TRACED.plan) : TRACED.plan;
const [party] = plan.parties;
const traced = { output: plan.process.outputBytes, input: party?.inputBytes ?? 0 };
const SOME = /^(cut outer 0 loses true,true heard true|cut inner loses true,true heard false|restart relay told true)/;
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

function ofOneByte(plan: Plan): Plan {
  const parties = plan.parties.map((one) => ({ ...one, inputBytes: 1 }));
  return { ...plan, process: { ...plan.process, outputBytes: 1 }, parties };
}
