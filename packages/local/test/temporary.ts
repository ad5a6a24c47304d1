// Temporary directories of tests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory that is removed when the test that asked for it ends. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "sbx-scripts-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
