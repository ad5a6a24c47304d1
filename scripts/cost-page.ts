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
    const unparked = { ...use, busyHours: use.attachedHours };
    const awake = { ...use, attachedHours: use.silentHours, busyHours: use.silentHours, silentHours: 0 };
    const deserted = use.silentHours === 0 ? native : totalOf(costOf(awake, inputs, NATIVE));
    return row([
      name,
      dollars(sdk - native),
      dollars(totalOf(costOf(unparked, inputs, NATIVE)) - native),
      dollars(deserted - native),
      dollars(native - unaudited),
    ]);
  });
  const head = [
    "use",
    "native way, against the SDK",
    "sessions that are parked while they are quiet",
    "objects that sleep while nobody is there",
    "the audit of keys costs",
  ];
  return [row(head), row(["---", "--:", "--:", "--:", "--:"]), ...uses].join("\n");
}

export function costPage(inputs: Inputs): string {
  return `# What it costs

Dollars a month, by the prices published on 2026-11-20, without what the plan includes. Written by \`npm run cost\` from
[cost-inputs.json](cost-inputs.json); \`npm run cost -- --measure\` counts these inputs on a local system. The container is \`basic\`:
${CONTAINER.memoryGib} GiB, ${CONTAINER.diskGb} GB. Not run here: a bill of the platform itself.

| counted here | |
|---|--:|
| messages of a client for each key, and to it | ${inputs.sentPerKey}, ${inputs.receivedPerKey} |
| rows for each key, typed five a second | ${inputs.rowsPerKey} |
| messages of a client for each MiB of output, and to it | ${inputs.sentPerMib}, ${inputs.receivedPerMib} |
| pings of an idle client in an hour, answered without waking anybody | ${inputs.pingsPerHour} |
| rows of a short session | ${inputs.rowsPerSession} |
| rows for each time that a session is parked and comes back | ${inputs.rowsPerPark} |
| seconds from \`PARK_SECONDS\` of quiet until it is parked | ${inputs.secondsToPark} |

## By the native way

${table(NATIVE, inputs)}

## By the Sandbox SDK

${table(SDK, inputs)}

## What the decisions save

${savings(inputs)}

Assumed, since the platform doesn't say or it can't be run here: an object is awake for 10 s after each alarm, and after a session is
parked; the container's object is awake while the session's is and somebody is attached; messages from a bridge count as incoming ones
do; a page shows a new token once an hour; a person pauses for more than a minute 40 times a day. \`PARK_SECONDS\` is 60, \`SLEEP_AFTER\`
ten minutes. While a parked session has clients its container runs, for \`PARK_HOURS\` (8) at most: that is what an untouched tab costs.
An object that is awake costs $${PRICES.objectHour.toFixed(4)} an hour.
`;
}
