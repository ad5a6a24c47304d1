// What `npm test` knows of a vitest that hangs: since when no test has ended, and which files run.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, ROOT } from "../../packages/local/src/base/paths.ts";
import { standstill } from "../suites/progress-reporter.ts";

test("a vitest whose file never ends is named with that file once no test has ended for long; before, nothing is said", async () => {
  // Below the checkout, where its tests find vitest.
  mkdirSync(join(ROOT, ".local"), { recursive: true });
  const root = mkdtempSync(join(ROOT, ".local/progress-"));
  const progress = join(root, "progress");
  expect(standstill(progress)).toBeUndefined();
  const file = join(root, "endless.test.ts");
  const spinning = "test('ends', () => {}); test('spins', () => { for (;;) Math.random(); });";
  writeFileSync(file, `import { test } from "vitest"; ${spinning}`);
  writeFileSync(join(root, "vitest.config.ts"), "export default {};");
  const args = ["run", `--root=${root}`, `--reporter=${ROOT}/scripts/suites/progress-reporter.ts`];
  const vitest = spawn(process.execPath, [join(BIN, "vitest"), ...args], {
    cwd: root,
    env: { ...process.env, SBX_PROGRESS: progress },
    detached: true,
    stdio: "ignore",
  });
  onTestFinished(() => {
    if (vitest.pid !== undefined) process.kill(-vitest.pid, "SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });
  const running = () => {
    try {
      return readFileSync(progress, "utf8");
    } catch {
      return "";
    }
  };
  await expect.poll(running).toBe(file);
  expect(standstill(progress)).toBeUndefined();
  expect(standstill(progress, Date.now() + 1_860_000)).toBe(
    `no test ended for 30 minutes while these files ran: ${file}`,
  );
});
