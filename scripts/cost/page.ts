// The block "cost" of docs/operations.md: the tables of the model.
import { CONTAINER, type Cost, costOf, type Inputs, totalOf, USES, type Way } from "./model.ts";

const NATIVE: Way = { isObjectAlwaysAwake: false };
const SDK: Way = { isObjectAlwaysAwake: true };
const dollars = (value: number): string => (value < 0.005 && value > 0 ? "< 0.01" : value.toFixed(2));

const COLUMNS: readonly (readonly [keyof Cost, string])[] = [
  ["container", "container"],
  ["cpu", "its CPU"],
  ["sessionObjects", "session objects"],
  ["containerObjects", "container objects"],
  ["requests", "requests"],
  ["rows", "rows"],
];

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

function table(way: Way, inputs: Inputs): string {
  const head = ["use", ...COLUMNS.map(([, title]) => title), "total"];
  const rows = Object.entries(USES).map(([name, use]) => {
    const cost = costOf(use, inputs, way);
    return row([name, ...COLUMNS.map(([key]) => dollars(cost[key])), dollars(totalOf(cost))]);
  });
  return [row(head), row(["---", ...COLUMNS.map(() => "--:"), "--:"]), ...rows].join("\n");
}

export function costBlock(inputs: Inputs): string {
  return `Dollars a month at the prices published on 2026-11-20, without included usage. Written by \`npm run cost\` from
[cost-inputs.json](cost-inputs.json). The container is \`basic\`:
${CONTAINER.memoryGib} GiB, ${CONTAINER.diskGb} GB. Not tested here: an actual bill.

With the native backend:

${table(NATIVE, inputs)}

With the Sandbox SDK:

${table(SDK, inputs)}

Assumptions: an object stays awake for 10 s after each alarm and after parking. The container's object is awake while the session's is and a client is
attached. A person pauses for more than a minute 40 times a
day. \`PARK_SECONDS\` is 60, \`SLEEP_AFTER\` ten minutes. A parked session with clients keeps its container for up to \`PARK_HOURS\` (8).`;
}
