// The folder of contexts and logins on each platform, and what earlier versions left elsewhere.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { configFolder } from "../../src/account/logins.ts";
import { scratch } from "../fixture/cli.ts";

test("contexts and logins are kept in the platform's folder for configuration", () => {
  const home = scratch();
  const folder = (platform: NodeJS.Platform, env = {}) => configFolder({ platform, home, env });
  expect(folder("linux")).toBe(join(home, ".config/sbx-stdio"));
  expect(folder("darwin")).toBe(join(home, "Library/Application Support/sbx-stdio"));
  expect(folder("win32")).toBe(join(home, "AppData/Roaming/sbx-stdio"));
  const roaming = join(home, "Roaming");
  expect(folder("win32", { APPDATA: roaming })).toBe(join(roaming, "sbx-stdio"));
  for (const platform of ["linux", "darwin", "win32"] as const) {
    expect(folder(platform, { XDG_CONFIG_HOME: "/elsewhere", APPDATA: roaming })).toBe("/elsewhere/sbx-stdio");
  }
});

test("what an earlier version kept in ~/.config moves to the platform's folder, once", () => {
  const home = scratch();
  const early = join(home, ".config/sbx-stdio");
  const keep = (text: string) => {
    mkdirSync(early, { recursive: true });
    writeFileSync(join(early, "contexts.json"), text);
  };
  keep("first");
  const folder = configFolder({ platform: "darwin", home, env: {} });
  expect(readFileSync(join(folder, "contexts.json"), "utf8")).toBe("first");
  expect(existsSync(early)).toBe(false);
  keep("second");
  expect(configFolder({ platform: "darwin", home, env: {} })).toBe(folder);
  expect(readFileSync(join(folder, "contexts.json"), "utf8")).toBe("first");
});

test("a folder that can't be moved is used where it is", () => {
  const home = scratch();
  mkdirSync(join(home, ".config/sbx-stdio"), { recursive: true });
  writeFileSync(join(home, "Library"), "a file where the folder would be");
  expect(configFolder({ platform: "darwin", home, env: {} })).toBe(join(home, ".config/sbx-stdio"));
});
