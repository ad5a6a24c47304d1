// Runs random seeds from 1 on; their count is the argument.

import { planOf } from "../simulation/plan.ts";
import { Simulation } from "../simulation/simulation.ts";

const count = Number(process.argv[2]);
for (let seed = 1; seed <= count; seed += 1) new Simulation(planOf(seed)).run();
console.log(`${count} seeds passed`);
