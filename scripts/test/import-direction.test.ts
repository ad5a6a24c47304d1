// The lint step "imports": the rules of docs/rooms.json, over made-up files and over the tree.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { directionFaults, readDirections } from "../tree/import-direction.ts";
import { workspacePackages } from "../tree/source-files.ts";

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

test.each([
  ["worker/src/a.ts", 'import type { X } from "../../sandbox/src/session/host.ts";', "worker may not import sandbox"],
  ["packages/dashboard/src/a.tsx", 'export { x } from "@sbx/api";', "packages/dashboard may not import packages/api"],
  ["packages/chaos/src/a.ts", 'await import("../../../scripts/pack.ts");', "packages/chaos may not import scripts"],
  [
    "packages/sandbox-stdio/src/wire/a.ts",
    'import {\n  X,\n} from "../programs/x.ts";',
    "wire may not import programs",
  ],
  ["packages/sandbox-stdio/src/text/a.ts", 'import { x } from "../index.ts";', "text may not import index.ts"],
  ["packages/sandbox-stdio/src/http/a.ts", 'import { z } from "zod";', "the core imports no package: zod"],
  ["worker/src/shed/a.ts", 'import { x } from "../base/log.ts";', "the room shed has no rule"],
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
