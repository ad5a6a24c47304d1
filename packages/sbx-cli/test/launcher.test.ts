// The script that npm installs as `sbx-stdio`, where there is no runtime but Bun: what it hands to the program. A program that
// prints its words takes the place of the bundle.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { BIN } from "../../local/src/base/paths.ts";
import { scratch } from "./fixture/cli.ts";
import { hostileFolder } from "./fixture/hostile-folder.ts";

const SCRIPT = fileURLToPath(new URL("../bin/sbx-stdio.js", import.meta.url));

/** @returns What the program prints of its words and surroundings; `options` are what it starts itself again with. */
function launch(words: readonly string[], cwd: string): unknown {
  const place = scratch();
  for (const folder of ["bin", "dist", "path"]) mkdirSync(join(place, folder));
  copyFileSync(SCRIPT, join(place, "bin/sbx-stdio.js"));
  writeFileSync(join(place, "package.json"), '{"type":"commonjs"}');
  const told =
    "JSON.stringify({ words: process.argv.slice(2), server: process.env.SBX_URL ?? null, options: process.execArgv.length })";
  writeFileSync(join(place, "dist/sbx-stdio.js"), `console.log(${told});`);
  symlinkSync(join(BIN, "bun"), join(place, "path/bun"));
  const env = { PATH: join(place, "path"), HOME: place };
  return JSON.parse(
    execFileSync("/bin/sh", [join(place, "bin/sbx-stdio.js"), ...words], { cwd, env, encoding: "utf8" }),
  );
}

test.each([[["--", "true"]], [["https://host", "--", "a b", "--"]], [[]], [["--", "--"]]])(
  "by Bun: the words %j come as they are",
  (words) => {
    expect(launch(words, scratch())).toEqual({ words, server: null, options: 2 });
  },
);

test("by Bun: neither runs nor believes what the current folder's files say", () => {
  const { folder, ran } = hostileFolder();
  expect(launch([], folder)).toEqual({ words: [], server: null, options: 2 });
  expect(ran()).toBe(false);
});
