// A route can't go around the Project Service by mistake: the names of a sandbox's objects are made in one place.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";

test("only the project gate names a sandbox's objects", () => {
  const dir = join(ROOT, "worker/src");
  const naming = globSync("**/*.ts", { cwd: dir }).filter((file) => {
    const imports = readFileSync(join(dir, file), "utf8").match(/import [^;]*?from "[^"]*\/names\.ts";/g) ?? [];
    return imports.some((line) => /\b(?:sandboxKey|sessionKey)\b|\* as/.test(line));
  });
  expect(naming).toEqual(["auth/project-gate.ts"]);
});
