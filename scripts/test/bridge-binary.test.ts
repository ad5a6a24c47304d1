// The bridge as it is compiled for a container.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { buildBridge } from "../../packages/local/src/build/builds.ts";

test("the bridge runs nothing that a process of the sandbox has left in its folder", async () => {
  await buildBridge();
  const cwd = mkdtempSync(join(tmpdir(), "sbx-bridge-"));
  try {
    const mark = join(cwd, "ran");
    writeFileSync(join(cwd, "evil.js"), `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`);
    writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./evil.js"]');
    writeFileSync(join(cwd, ".env"), `STDIO_TOKEN=${"believed".repeat(4)}`);
    // Without a secret it says what it lacks, and ends; with that of the folder it would serve.
    const options = { cwd, env: {}, encoding: "utf8", timeout: 240_000 } as const;
    const { status, stderr } = spawnSync(join(ROOT, "sandbox/dist/stdio-ws"), options);
    expect([existsSync(mark), status]).toEqual([false, 2]);
    expect(stderr).toContain("STDIO_TOKEN");
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
});
