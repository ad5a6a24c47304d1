// The cost of a deployment: the page is the model's output, and the model adds up.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withTable } from "../../packages/bench/src/base/table-file.ts";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { awakeHours, costOf, type Inputs, totalOf, type Use } from "../cost/model.ts";
import { costBlock } from "../cost/page.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const inputs = JSON.parse(read("docs/cost-inputs.json")) as Inputs;
const NONE: Inputs = {
  ...{ sentPerKey: 0, receivedPerKey: 0, rowsPerKey: 0, sentPerMib: 0, receivedPerMib: 0 },
  ...{ pingsPerHour: 0, rowsPerSession: 0, rowsPerPark: 0, secondsToPark: 2 },
};
const NOTHING: Use = {
  ...{ containerHours: 0, cpuHours: 0, attachedHours: 0, busyHours: 0, pauses: 0, keys: 0, outputMib: 0, sessions: 0 },
  silentHours: 0,
};

test("the costs in docs/operations.md are what `npm run cost` makes of its inputs", () => {
  const page = read("docs/operations.md");
  expect(withTable(page, costBlock(inputs), "cost")).toBe(page);
});

test("an hour of a basic container and of one session costs what the platform's price list says", () => {
  const hour = { ...NOTHING, containerHours: 1, cpuHours: 1, attachedHours: 1, busyHours: 1 };
  const cost = costOf(hour, NONE, { isObjectAlwaysAwake: true });
  expect(cost.container).toBeCloseTo(0.009 + 0.001_008, 6);
  expect(cost.cpu).toBeCloseTo(0.072, 6);
  expect(cost.sessionObjects).toBeCloseTo(0.005_76, 6);
  expect(cost.containerObjects).toBeCloseTo(0.005_76, 6);
  expect(totalOf(cost)).toBeGreaterThan(0.093);
});

test("a session that is parked is awake for PARK_SECONDS, until it is parked and gone, for each pause; never longer than it is attached", () => {
  const tab = { ...NOTHING, containerHours: 8, attachedHours: 8, pauses: 10 };
  expect(awakeHours(tab, NONE)).toBeCloseTo((10 * (60 + 2 + 10)) / 3_600, 6);
  expect(awakeHours({ ...tab, busyHours: 7 }, NONE)).toBeCloseTo(7.2, 6);
  expect(awakeHours({ ...tab, pauses: 10_000 }, NONE)).toBe(8);
  const cost = costOf(tab, { ...NONE, rowsPerPark: 8 }, { isObjectAlwaysAwake: false });
  expect(cost.sessionObjects).toBeCloseTo(0.2 * 0.005_76, 6);
  expect(cost.rows).toBeCloseTo((10 * 8 + 8 * 6) / 1e6, 9);
});
