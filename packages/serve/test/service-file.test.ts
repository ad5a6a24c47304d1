import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { install, launchdFile, systemdUnit } from "../src/run/install.ts";
import { temporaryDirectory } from "./temporary.ts";

const SERVICE = {
  port: 8787,
  command: ["/usr/bin/node", "/opt/sbx stdio.js", "serve", "--dir", '/srv/100% "$HOME"\\'],
  dir: "/srv",
  isRoot: false,
  path: "/opt/my bin:/usr/bin",
};

test("the unit starts the same words, and leaves the bridge alone when the server stops", () => {
  const { path, text, switchOn } = systemdUnit(SERVICE, "/home/alice");
  expect(path).toBe("/home/alice/.config/systemd/user/sbx-stdio-8787.service");
  expect(text).toContain(
    `${String.raw`ExecStart="/usr/bin/node" "/opt/sbx stdio.js" "serve" "--dir" "/srv/100%% \"$$HOME\"\\"`}\n`,
  );
  expect(text).toContain('\nEnvironment="PATH=/opt/my bin:/usr/bin"\n');
  expect(text).toContain("\nKillMode=process\n");
  expect(switchOn).toMatch(/^systemctl --user enable --now sbx-stdio-8787\.service; .* loginctl enable-linger$/);
  const root = systemdUnit({ ...SERVICE, isRoot: true });
  expect([root.path, root.switchOn]).toEqual([
    "/etc/systemd/system/sbx-stdio-8787.service",
    "systemctl enable --now sbx-stdio-8787.service",
  ]);
});

test("the file for launchd is a property list with the same words", () => {
  const { path, text } = launchdFile(SERVICE, "/Users/alice");
  expect(path).toBe("/Users/alice/Library/LaunchAgents/sbx-stdio-8787.plist");
  const file = join(temporaryDirectory(), "service.plist");
  writeFileSync(file, text);
  const read = "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
  const { stdout } = spawnSync("python3", ["-c", read, file], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual({
    Label: "sbx-stdio-8787",
    ProgramArguments: SERVICE.command,
    WorkingDirectory: "/srv",
    EnvironmentVariables: { PATH: SERVICE.path },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    AbandonProcessGroup: true,
  });
});

test("a folder's name can't add lines to the unit", () => {
  expect(() => install({ ...SERVICE, dir: "/srv/x\nExecStartPre=/bin/false" })).toThrow("control characters");
});
