// Bundles the command line once, for all files of these tests: it is what ships, and it starts with a sixth of the sources' work.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildCli } from "../../local/src/build/builds.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The directory in which these tests write their files. */
    readonly scratch: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => void> {
  await buildCli();
  const scratch = mkdtempSync(join(tmpdir(), "sbx-cli-"));
  project.provide("scratch", scratch);
  return () => rmSync(scratch, { recursive: true, force: true });
}
