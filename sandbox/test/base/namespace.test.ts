// The mount namespace of a sandbox's folder: why there is none, and where its paths are for the bridge.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Namespace } from "../../src/base/namespace.ts";
import { resolveCommand } from "../../src/process/command.ts";

function fresh(): string {
  const dir = mkdtempSync(join(tmpdir(), "sbx-namespace-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test("V2: of a namespace that can't be made is told why, in the words of what failed", async () => {
  const dir = fresh();
  const made = await Namespace.make(join(dir, "root"), join(dir, "no-such-folder"));
  expect(made).toMatch(/no-such-folder/);
});

test("a command and a directory are looked for where the namespace has them, links as they lead in it", async () => {
  const dir = fresh();
  const folder = join(dir, "folder");
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "bin/tool"), "#!/bin/sh\n", { mode: 0o755 });
  writeFileSync(join(folder, "bin/text"), "");
  symlinkSync("/workspace/bin", join(folder, "absolute"));
  symlinkSync("absolute/../bin/tool", join(folder, "tool"));
  symlinkSync("loop", join(folder, "loop"));
  const made = await Namespace.make(join(dir, "root"), folder);
  if (typeof made === "string") throw new Error(made);
  onTestFinished(() => made.close());
  const find = (cmd: string, cwd = "/workspace") =>
    resolveCommand(cmd, cwd, "/usr/bin:/workspace/absolute", made.outside);
  expect(find("tool")).toEqual({ path: "/workspace/absolute/tool" });
  expect(find("./tool", "/workspace/absolute")).toEqual({ path: "/workspace/absolute/tool" });
  expect(find("/workspace/tool")).toEqual({ path: "/workspace/tool" });
  expect(find("bin/text")).toMatchObject({ fault: "cmd_not_executable" });
  expect(find("/workspace/loop/x")).toMatchObject({ fault: "cmd_not_found" });
  expect(find("sh", "/workspace/none")).toMatchObject({ fault: "bad_cwd" });
  expect(made.outside("/workspace/../etc/passwd")).toBe("/etc/passwd");
  expect(made.outside("/workspaces/x")).toBe("/workspaces/x");
  const start = made.within({ path: "/workspace/a=b", argv: ["a=b", "x"], env: { A: "1" }, cwd: "/workspace" });
  const { stdout } = Bun.spawnSync([start.path, ...start.argv.slice(1, 3), "/bin/ls", "/workspace"], {
    cwd: start.cwd,
  });
  expect(stdout.toString()).toBe("absolute\nbin\nloop\ntool\n");
  expect(start.argv.slice(-4)).toEqual(['exec "$@"', "sh", "/workspace/a=b", "x"]);
});
