// A reporter of vitest's for `npm test`: notes in the file SBX_PROGRESS, at the start of each test file and the end of each test, which files
// run. A vitest that hangs or spins notes nothing more, and is ended for that.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/** Each test, and each hook around it, is given five minutes by vitest itself. */
const STANDSTILL_MS = 1_800_000;

export default class ProgressReporter implements Reporter {
  readonly #running = new Set<string>();

  onTestRunStart(): void {
    this.#note();
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#running.add(moduleId);
    this.#note();
  }

  onTestCaseResult(): void {
    this.#note();
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#running.delete(moduleId);
    this.#note();
  }

  #note(): void {
    const { SBX_PROGRESS } = process.env;
    if (SBX_PROGRESS !== undefined) writeFileSync(SBX_PROGRESS, [...this.#running].join(", "));
  }
}

/** @param progress The file; absent before vitest has begun. @returns What to say of a vitest that stands still. */
export function standstill(progress: string, nowMs = Date.now(), limitMs = STANDSTILL_MS): string | undefined {
  const seen = statSync(progress, { throwIfNoEntry: false });
  if (seen === undefined || nowMs - seen.mtimeMs < limitMs) return undefined;
  return `no test ended for ${limitMs / 60_000} minutes while these files ran: ${readFileSync(progress, "utf8")}`;
}
