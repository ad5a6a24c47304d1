// What a server says in its log at each level.

import { expect, test } from "vitest";
import { LOG_LEVELS, type Log, logAt, readLogLevel } from "../../src/text/log-level.ts";

test.each([
  ["error", ["error"]],
  ["warn", ["error", "warn"]],
  ["info", ["error", "warn", "info"]],
  ["debug", ["error", "warn", "info", "debug"]],
] as const)("at %s a log says %j, with their details", (level, said) => {
  const printed: unknown[][] = [];
  const printAs =
    (name: string) =>
    (...words: unknown[]) =>
      void printed.push([name, ...words]);
  const print = Object.fromEntries(LOG_LEVELS.map((name) => [name, printAs(name)])) as Log;
  const log = logAt(level, print);
  for (const name of LOG_LEVELS) log[name]("it happened:", 7);
  expect(printed).toEqual(said.map((name) => [name, "it happened:", 7]));
});

test.each([
  [undefined, "warn"],
  ["", "warn"],
  ["debug", "debug"],
  ["DEBUG", undefined],
  ["all", undefined],
])("the setting %j is the level %s", (setting, level) => {
  expect(readLogLevel(setting)).toBe(level);
});
