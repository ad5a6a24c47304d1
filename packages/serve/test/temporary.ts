import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory that is gone after the test. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), "sbx-serve-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
