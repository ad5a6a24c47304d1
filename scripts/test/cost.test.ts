// The cost of a deployment: the page is the model's output, and the model adds up.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/paths.ts";
import { costOf, type Inputs, totalOf, USES } from "../cost-model.ts";
import { costPage } from "../cost-page.ts";

const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const inputs = JSON.parse(read("docs/cost-inputs.json")) as Inputs;
const NONE: Inputs = {
  ...{ sentPerKey: 0, receivedPerKey: 0, rowsPerKey: 0, sentPerMib: 0, receivedPerMib: 0 },
  ...{ pingsPerHour: 0, rowsPerSession: 0 },
};

test("docs/cost.md is what `npm run cost` makes of its inputs", () => {
  expect(read("docs/cost.md")).toBe(costPage(inputs));
});

test("an hour of a basic container and of one session costs what the platform's price list says", () => {
  const hour = { containerHours: 1, cpuHours: 1, attachedHours: 1, keys: 0, outputMib: 0, sessions: 0, silentHours: 0 };
  const cost = costOf(hour, NONE, { isObjectAlwaysAwake: true });
  expect(cost.container).toBeCloseTo(0.009 + 0.001_008, 6);
  expect(cost.cpu).toBeCloseTo(0.072, 6);
  expect(cost.sessionObjects).toBeCloseTo(0.005_76, 6);
  expect(cost.containerObjects).toBeCloseTo(0.005_76, 6);
  expect(totalOf(cost)).toBeGreaterThan(0.093);
});

test("a million messages cost what 50,000 requests do, and a million rows a dollar", () => {
  const keys = {
    containerHours: 0,
    cpuHours: 0,
    attachedHours: 0,
    keys: 1e6,
    outputMib: 0,
    sessions: 0,
    silentHours: 0,
  };
  const cost = costOf(keys, { ...NONE, sentPerKey: 1, rowsPerKey: 1 }, { isObjectAlwaysAwake: false });
  expect(cost.requests).toBeCloseTo(0.0075, 6);
  expect(cost.rows).toBeCloseTo(1, 6);
});

test("no use is cheaper by the SDK, whose object is awake as long as its container runs", () => {
  for (const use of Object.values(USES)) {
    const [native, sdk] = [false, true].map((isObjectAlwaysAwake) =>
      totalOf(costOf(use, inputs, { isObjectAlwaysAwake })),
    );
    expect(native).toBeLessThanOrEqual(sdk ?? 0);
  }
});
