// The end-to-end tests that containers are spared: each name leads to a test, so that no line outlives it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { LEFT_OUT_FILES, LEFT_OUT_TESTS } from "../suites/left-out.ts";

const pathOf = (name: string) => join(ROOT, "test/e2e", `${name}.test.ts`);

test("what is left out over containers is there, once", () => {
  const gone = Object.keys(LEFT_OUT_FILES).filter((name) => !existsSync(pathOf(name)));
  const unknown = Object.entries(LEFT_OUT_TESTS).flatMap(([name, titles]) => {
    const text = existsSync(pathOf(name)) ? readFileSync(pathOf(name), "utf8") : "";
    // Titles that name a server or a shell have its place in the text.
    const told = ["%s", "the bridge", "bridge", "zsh", "fish"].map((server) => text.replaceAll("%s", server));
    const isTold = (title: string) => told.some((one) => one.includes(title));
    return Object.keys(titles).filter((title) => !isTold(title) || name in LEFT_OUT_FILES);
  });
  expect([gone, unknown]).toEqual([[], []]);
});
