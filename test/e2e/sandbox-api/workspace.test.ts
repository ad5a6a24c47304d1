// /workspace of `/v1/sandbox` on a machine with many sandboxes: a mount namespace each, made by the bridge as root.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ApiSandbox } from "../support/agents/sandbox-api.ts";
import { Programs } from "../support/clients/programs.ts";
import { person, restartBridge, system } from "../support/system/system.ts";

function folder({ id }: ApiSandbox): string {
  const [name = "none"] = readdirSync(system.sandboxesDir).filter((one) => one.startsWith(id));
  return join(system.sandboxesDir, name);
}

test("each sandbox's folder is /workspace for its processes, and for nobody else", async () => {
  const who = await person();
  const isThere = existsSync("/workspace");
  const [one, other] = await Promise.all([ApiSandbox.make(who), ApiSandbox.make(who)]);
  const script = 'pwd; echo $HOME; echo "$0" > /workspace/name; cat /workspace/name; id -u; ls / | grep -c .';
  const { stdout } = await one.outcome(["sh", "-c", script, "one"]);
  expect(stdout).toMatch(/^\/workspace\n\/workspace\none\n0\n\d+\n$/);
  expect(readFileSync(join(folder(one), "name"), "utf8")).toBe("one\n");
  expect((await other.outcome(["ls", "-A", "/workspace"])).stdout).toBe("");
  expect(existsSync("/workspace")).toBe(isThere);
  expect((await one.outcome(["cat", "name"], { cwd: "/workspace" })).stdout).toBe("one\n");
});

test("sessions of the same sandbox from elsewhere see it too, and a restarted bridge makes it anew", async () => {
  const who = await person();
  const box = await ApiSandbox.make(who);
  await box.outcome([
    "sh",
    "-c",
    "mkdir -p sub && ln -s /workspace/sub link && cp /bin/echo tool && ln -s /workspace/tool say",
  ]);
  const programs = new Programs(who, box.id);
  expect((await programs.run({ cmd: "pwd" })).body.stdout).toBe("/workspace\n");
  await restartBridge();
  expect((await box.outcome(["pwd"], { cwd: "/workspace/link" })).stdout).toMatch(/^\/workspace\/(link|sub)\n$/);
  expect((await box.outcome(["/workspace/say", "hello"])).stdout).toBe("hello\n");
  expect((await box.outcome(["/workspace/none"])).exit).toEqual({ exit_code: 127 });
});
