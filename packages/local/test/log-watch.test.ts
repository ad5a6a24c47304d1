import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchLog } from "../src/processes/server.ts";
import { temporaryDirectory } from "./temporary.ts";

function watched(text: string) {
  const file = join(temporaryDirectory(), "log");
  writeFileSync(file, text);
  const match = new Promise<string>((resolve) => onTestFinished(watchLog(file, /crashed/, resolve)));
  return { file, match };
}

test("a line that is there already is found", async () => {
  const { match } = watched("starting\nit crashed (1)\nmore\n");
  expect(await match).toBe("it crashed (1)");
});

test("a line that arrives in two pieces is found whole", async () => {
  const { file, match } = watched("starting\n");
  appendFileSync(file, "it cra");
  appendFileSync(file, "shed (2)\n");
  expect(await match).toBe("it crashed (2)");
});
