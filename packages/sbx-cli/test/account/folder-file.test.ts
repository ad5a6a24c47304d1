// `.sbx.json` of a project: found from the folders below it, up to the repository's root or the home folder, and no further.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { findFolderFile } from "../../src/account/contexts.ts";
import { cleanEnv, collect, scratch, startCli } from "../fixture/cli.ts";

afterEach(() => void vi.restoreAllMocks());

/** A home folder with these files and folders, and one with a file above it. */
function places(...files: string[]) {
  const outside = scratch();
  const home = join(outside, "home");
  mkdirSync(join(home, "repo/src/deep"), { recursive: true });
  mkdirSync(join(outside, "away"));
  for (const file of files) writeFileSync(join(outside, file), "{}");
  const found = (folder: string, env = { HOME: home }) => findFolderFile(join(outside, folder), env);
  return { outside, found };
}

test("the nearest one counts, from the folder up to the home folder", () => {
  const { outside, found } = places("home/.sbx.json", "home/repo/.sbx.json", ".sbx.json");
  const repo = { path: join(outside, "home/repo/.sbx.json"), words: `.sbx.json in ${join(outside, "home/repo")}` };
  expect(found("home/repo/src/deep")).toEqual(repo);
  expect(found("home/repo")).toEqual({ path: repo.path, words: ".sbx.json in this folder" });
  const { found: bare, outside: around } = places("home/.sbx.json", ".sbx.json");
  expect(bare("home/repo/src").path).toBe(join(around, "home/.sbx.json"));
  const { found: none, outside: empty } = places(".sbx.json");
  expect(none("home/repo").path).toBe(join(empty, "home/repo/.sbx.json"));
});

test("a repository's root ends the search, also outside the home folder; without one nothing above is looked at", () => {
  const { outside, found } = places("home/.sbx.json", "home/repo/.git", ".sbx.json");
  expect(found("home/repo/src").words).toBe(".sbx.json in this folder");
  expect(found("away").words).toBe(".sbx.json in this folder");
  expect(found("home/repo/src", { HOME: "/nowhere" }).words).toBe(".sbx.json in this folder");
  writeFileSync(join(outside, "home/repo/.sbx.json"), "{}");
  expect(found("home/repo/src", { HOME: "/nowhere" }).path).toBe(join(outside, "home/repo/.sbx.json"));
});

test("another person's file is none above the current folder", () => {
  const { outside, found } = places("home/.sbx.json", "away/.sbx.json");
  vi.spyOn(process, "getuid").mockReturnValue(123_456);
  expect(found("home/repo").words).toBe(".sbx.json in this folder");
  // In the current folder it has always been anybody's: what it may do is bounded.
  expect(found("away").path).toBe(join(outside, "away/.sbx.json"));
});

test("an address that stands above gets a token as little as that of the current folder", async () => {
  const { outside } = places();
  writeFileSync(join(outside, "home/repo/.sbx.json"), '{"server":"http://127.0.0.1:1","sesion":"x"}');
  const env = { ...cleanEnv(), HOME: join(outside, "home") };
  const words = ["-n", "--", "true"];
  const { code, stderr } = await collect(startCli(words, { env, cwd: join(outside, "home/repo/src") }));
  const where = `.sbx.json in ${join(outside, "home/repo")}`;
  expect([code, stderr]).toEqual([
    255,
    `sbx-stdio: ${where}: ignored "sesion"; expected "server", "sandbox" and "session" as strings\n` +
      `sbx-stdio: SBX_TOKEN is not sent to http://127.0.0.1:1, an address from ${where}; allow it with SBX_TOKEN_ORIGIN=http://127.0.0.1:1 or --token\n`,
  ]);
});
