// The lint step "imports": the rules of docs/rooms.json, over made-up files and over the tree.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { directionFaults, readDirections } from "../tree/import-direction.ts";
import { sourceFiles, workspacePackages } from "../tree/source-files.ts";

const directions = readDirections(readFileSync(join(ROOT, "docs/rooms.json"), "utf8"));
const packages = workspacePackages();
const faultsOf = (path: string, text: string) => directionFaults([{ path, text }], directions, packages);

test("each part and each room has its rule, and each rule its folder", () => {
  const isFolder = (path: string) => existsSync(join(ROOT, path));
  expect([...directions.parts.keys()].filter((part) => !isFolder(part))).toEqual([]);
  const parts = [
    ...readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}`),
    "sandbox",
    "scripts",
    "worker",
  ];
  expect([...directions.parts.keys()].sort()).toEqual(parts.sort());
  for (const [sources, table] of directions.rooms) {
    const folders = readdirSync(join(ROOT, sources), { withFileTypes: true }).filter(
      (one) => one.isDirectory() && one.name !== "test",
    );
    expect([...table.keys()].sort()).toEqual(folders.map(({ name }) => name).sort());
  }
});

test("no rule leads back to itself: parts and rooms can be put in an order", () => {
  for (const table of [directions.parts, ...directions.rooms.values()]) {
    const byName = new Map([...table].map(([name, imports]) => [name.slice(name.lastIndexOf("/") + 1), imports]));
    const placed = new Set<string>();
    const isReady = ([name, imports]: [string, ReadonlySet<string>]) =>
      !placed.has(name) && [...imports].every((one) => placed.has(one));
    for (let ready = [...byName].filter(isReady); ready.length > 0; ready = [...byName].filter(isReady)) {
      for (const [name] of ready) placed.add(name);
    }
    expect([...byName.keys()].filter((name) => !placed.has(name))).toEqual([]);
  }
});

test.each([
  [
    "packages/sbx-cli/src/a.ts",
    'import { x } from "../../../worker/src/env.ts";',
    "packages/sbx-cli may not import worker",
  ],
  ["worker/src/a.ts", 'import type { X } from "../../sandbox/src/session/host.ts";', "worker may not import sandbox"],
  ["packages/dashboard/src/a.tsx", 'export { x } from "@sbx/api";', "packages/dashboard may not import packages/api"],
  [
    "packages/chaos/src/a.ts",
    'const x = await import("../../../scripts/pack.ts");',
    "packages/chaos may not import scripts",
  ],
  [
    "packages/sandbox-stdio/src/wire/a.ts",
    'import type {\n  X,\n} from "../programs/x.ts";',
    "wire may not import programs",
  ],
  ["packages/sandbox-stdio/src/text/a.ts", 'import { x } from "../index.ts";', "text may not import index.ts"],
  ["packages/sandbox-stdio/src/entry/a.ts", 'export * from "../session/x.ts";', "entry may not import session"],
  ["packages/sandbox-stdio/src/http/a.ts", 'import { z } from "zod";', "the core imports no package: zod"],
  ["packages/sandbox-stdio/src/cellar/a.ts", 'import { x } from "../text/x.ts";', "the room cellar has no rule"],
  ["worker/src/auth/a.ts", 'import { x } from "../session/x.ts";', "auth may not import session"],
  ["worker/src/shed/a.ts", 'import { x } from "../base/log.ts";', "the room shed has no rule"],
  ["worker/src/base/log.ts", 'import { x } from "../env.ts";', "base may not import env.ts"],
  ["packages/shed/src/a.ts", 'import "sandbox-stdio/core";', "its part has no rule"],
])("refuses in %s: %s", (path, text, fault) => {
  expect(faultsOf(path, text)).toEqual([`${path}: ${fault}`]);
});

test("lets through the way of the tables, a room's own files, the index, and packages of others", () => {
  const client = 'import { x } from "../wire/x.ts";\nimport { y } from "./y.ts";';
  expect(faultsOf("packages/sandbox-stdio/src/client/a.ts", client)).toEqual([]);
  expect(faultsOf("packages/sandbox-stdio/src/index.ts", 'export { x } from "./hop/x.ts";')).toEqual([]);
  const worker =
    'import { Hono } from "hono";\nimport { x } from "sandbox-stdio/core";\nimport { y } from "@sbx/mcp/gateway";';
  expect(faultsOf("worker/src/auth/a.ts", worker)).toEqual([]);
  expect(faultsOf("worker/src/env.ts", 'import type { X } from "./routes/x.ts";')).toEqual([]);
});

test("the tree keeps to the tables", () => {
  const files = sourceFiles();
  expect(files.length).toBeGreaterThan(600);
  expect(directionFaults(files, directions, packages)).toEqual([]);
});
