// A build is skipped only if nothing that it reads or writes has changed.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildUnlessUnchanged } from "../src/build/build-record.ts";
import { temporaryDirectory } from "./temporary.ts";

test("a build is skipped until a source or an output changes", async () => {
  const dir = temporaryDirectory();
  const source = join(dir, "src/index.ts");
  const output = join(dir, "out.js");
  mkdirSync(join(dir, "src/node_modules"), { recursive: true });
  writeFileSync(source, "first");
  const build = () =>
    buildUnlessUnchanged({
      recordFile: join(dir, "built"),
      sources: [join(dir, "src")],
      outputs: [output],
      build: async () => writeFileSync(output, "built"),
    });

  expect([await build(), await build()]).toEqual([true, false]);
  writeFileSync(source, "second");
  expect([await build(), await build()]).toEqual([true, false]);
  writeFileSync(output, "another program's");
  expect([await build(), await build()]).toEqual([true, false]);
  rmSync(output);
  expect([await build(), await build()]).toEqual([true, false]);
  writeFileSync(join(dir, "src/node_modules/package.js"), "installed");
  expect(await build()).toBe(false);
});

test("a failed build is repeated", async () => {
  const dir = temporaryDirectory();
  const build = (fails: boolean) =>
    buildUnlessUnchanged({
      recordFile: join(dir, "built"),
      sources: [],
      outputs: [],
      build: () => (fails ? Promise.reject(new Error("no compiler")) : Promise.resolve()),
    });

  expect(await build(false)).toBe(true);
  writeFileSync(join(dir, "built"), "older");
  await expect(build(true)).rejects.toThrow("no compiler");
  expect(await build(false)).toBe(true);
});
