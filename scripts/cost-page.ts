// docs/cost.md: the tables of the model, in words.
import { CONTAINER, type Cost, costOf, type Inputs, PRICES, totalOf, USES, type Way } from "./cost-model.ts";

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

function savings(inputs: Inputs): string {
  const uses = Object.entries(USES).map(([name, use]) => {
    const [native, sdk] = [totalOf(costOf(use, inputs, NATIVE)), totalOf(costOf(use, inputs, SDK))];
    const perKey = { ...inputs, rowsPerKey: 0 };
    const unaudited = totalOf(costOf(use, perKey, NATIVE));
    const awake = { ...use, attachedHours: Math.max(use.attachedHours, use.silentHours), silentHours: 0 };
    return row([
      name,
      dollars(sdk - native),
      dollars(Math.max(0, totalOf(costOf(awake, inputs, NATIVE)) - native)),
      dollars(native - unaudited),
    ]);
  });
  const head = [
    "use",
    "native way, against the SDK",
    "objects that sleep while nobody is there",
    "the audit of keys costs",
  ];
  return [row(head), row(["---", "--:", "--:", "--:"]), ...uses].join("\n");
}

export function costPage(inputs: Inputs): string {
  return `# What it costs

Dollars a month, by the prices published on 2026-11-20, without what the plan includes. Written by \`npm run cost\` from
[cost-inputs.json](cost-inputs.json); \`npm run cost -- --measure\` counts these inputs on a local system. The container is \`basic\`:
${CONTAINER.memoryGib} GiB, ${CONTAINER.diskGb} GB. Not run here: a bill of the platform itself.

| counted here | |
|---|--:|
| messages of a client for each key, and to it | ${inputs.sentPerKey}, ${inputs.receivedPerKey} |
| rows of the audit for each key | ${inputs.rowsPerKey} |
| messages of a client for each MiB of output, and to it | ${inputs.sentPerMib}, ${inputs.receivedPerMib} |
| pings of an idle client in an hour, answered without waking anybody | ${inputs.pingsPerHour} |
| rows of the audit of a short session | ${inputs.rowsPerSession} |

## By the native way

${table(NATIVE, inputs)}

## By the Sandbox SDK

${table(SDK, inputs)}

## What the decisions save

${savings(inputs)}

Assumed, since the platform doesn't say or it can't be run here: an object is awake for 10 s after each alarm; the container's object
is awake while somebody is attached; messages from a bridge count as incoming ones do; \`SLEEP_AFTER\` is ten minutes. An object that is
awake costs $${PRICES.objectHour.toFixed(4)} an hour.
`;
}
