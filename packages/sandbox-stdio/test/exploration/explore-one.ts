// Explores one scenario with its plain faults: NAME and the most faults in a run are the arguments.

import { Explorer } from "./explorer.ts";
import { SCENARIOS } from "./scenarios.ts";

const [wanted, most] = process.argv.slice(2);
const scenario = SCENARIOS.find(({ name }) => name === wanted);
if (scenario === undefined) throw new Error(`There is no scenario ${wanted}`);
const plain = scenario.faults.filter(({ isPlain }) => isPlain);
console.log(JSON.stringify(new Explorer(scenario.plan, plain).explore(Number(most))));
