// Replays in the model every run of a small exchange with one fault. The arguments: the exchange (`least`: of one byte each way), and the
// faults: all, `some` of three, or one by its name.

import { Explorer } from "../exploration/explorer.ts";
import { TRACED, UNIT_BYTES } from "../exploration/scenarios.ts";
import type { Plan } from "../simulation/plan.ts";
import { inUnits, replay, type Traced } from "./replay.ts";

const [exchange = "bytes", wanted = "whole"] = process.argv.slice(2);
const { plan: planned, faults } = TRACED[exchange as keyof typeof TRACED] ?? TRACED.bytes;
const plan = exchange === "least" ? ofOneByte(planned) : planned;
const unit = exchange === "held" ? UNIT_BYTES : 1;
const traced: Traced = {
  output: plan.process.outputBytes / unit,
  input: plan.parties[0]?.inputBytes ?? 0,
  // The window of the smallest log is 3.5 units (W2). The model counts processed bytes in whole units.
  ...(exchange === "held" ? { window: 5, log: 8 } : {}),
  isParked: plan.parkMs !== undefined,
};
const SOME = /^(cut outer 0 loses true,true heard true|cut inner loses true,true heard false|restart relay told true)/;
const isWanted = (name: string) => wanted === "whole" || (wanted === "some" ? SOME.test(name) : name === wanted);
const menu = faults.filter(({ name }) => isWanted(name));
let steps = 0;
const explored = new Explorer(plan, menu, (trace, broken) => {
  const units = inUnits(trace, unit);
  steps += units.length;
  try {
    replay(units, traced, /inner|relay/.test(broken) ? 1 : 0);
  } catch (error) {
    throw new Error(`after [${broken}]: ${error instanceof Error ? error.message : String(error)}`);
  }
}).explore(1);
console.log(JSON.stringify({ runs: explored.runs, steps }));

function ofOneByte(plan: Plan): Plan {
  const parties = plan.parties.map((one) => ({ ...one, inputBytes: 1 }));
  return { ...plan, process: { ...plan.process, outputBytes: 1 }, parties };
}
