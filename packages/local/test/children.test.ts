// Child processes end as groups, in any order of deaths.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Child, ChildKeeper } from "../src/processes/children.ts";
import { isAlive, RUN_MARK } from "../src/processes/proc.ts";
import { temporaryDirectory } from "./temporary.ts";

const HANG = { timeout: 240_000 };

async function start(code: string): Promise<Child> {
  const dir = temporaryDirectory();
  const keeper = new ChildKeeper();
  onTestFinished(() => keeper.close());
  const options = { name: "child", command: "/bin/sh", args: ["-c", code], env: process.env, cwd: dir };
  const child = await keeper.start({ ...options, logFile: join(dir, "logs/child.log") });
  onTestFinished(() => child.stop(0));
  return child;
}

/** The first line that the child has written. */
async function firstLine(child: Child): Promise<string> {
  return vi.waitUntil(() => /^(.*)\n/.exec(readFileSync(child.logFile ?? "", "utf8"))?.[1], HANG);
}

test("a child's output, of both kinds, is in its log, which only its owner can read", async () => {
  const child = await start("echo one; echo two >&2; exit 7");
  expect(await child.exited).toEqual({ code: 7 });
  expect(child.hasExited).toBe(true);
  expect(child.lastLines(10)).toBe("one\ntwo");
  expect(child.lastLines(1)).toBe("two");
  expect(statSync(child.logFile ?? "").mode & 0o777).toBe(0o600);
});

test("lines that a log is to leave out are not in it, and all others of both kinds are, whole", async () => {
  const dir = temporaryDirectory();
  const keeper = new ChildKeeper();
  onTestFinished(() => keeper.close());
  const code = "printf 'no'; echo ise; echo kept; printf 'no\\nnoise 2\\nlast' >&2";
  const options = { name: "child", command: "/bin/sh", args: ["-c", code], env: process.env, cwd: dir };
  const child = await keeper.start({ ...options, logFile: join(dir, "child.log"), leavesOut: /^noise/ });
  onTestFinished(() => child.stop(0));
  await child.exited;
  const lines = () => child.lastLines(10).split("\n").sort();
  await vi.waitUntil(() => lines().length === 3, HANG);
  expect(lines()).toEqual(["kept", "last", "no"]);
});

test("a log whose lines are sifted is begun anew at 8 MiB, and the one before it is kept", async () => {
  const dir = temporaryDirectory();
  const keeper = new ChildKeeper();
  onTestFinished(() => keeper.close());
  const code = "head -c 8500000 /dev/zero | tr '\\0' x | fold -w 99999; echo; echo last";
  const options = { name: "child", command: "/bin/sh", args: ["-c", code], env: process.env, cwd: dir };
  const child = await keeper.start({ ...options, logFile: join(dir, "child.log"), leavesOut: /^noise/ });
  onTestFinished(() => child.stop(0));
  await child.exited;
  await vi.waitUntil(() => child.lastLines(1) === "last", HANG);
  expect(statSync(join(dir, "child.log")).size).toBeLessThan(200_000);
  expect(statSync(join(dir, "child.log.old")).size).toBeGreaterThan(8_000_000);
});

test("the end of a stderr that is remembered can be read, and stdout is not in it", async () => {
  const keeper = new ChildKeeper();
  onTestFinished(() => keeper.close());
  const args = ["-c", "echo one >&2; echo two >&2; exit 7"];
  const options = { name: "child", command: "/bin/sh", args, env: process.env, cwd: temporaryDirectory() };
  const child = await keeper.start({ ...options, remembersStderr: true });
  expect(await child.exited).toEqual({ code: 7 });
  expect(child.lastLines(1)).toBe("two");
});

test("whoever inherited a stderr that is remembered does not keep this process from its end", async () => {
  const script = fileURLToPath(new URL("./rememberer.ts", import.meta.url));
  const code = "setsid sh -c 'echo $$ >&2; exec sleep 600' &";
  const keeper = spawn(process.execPath, [script, code], { stdio: ["ignore", "ignore", "pipe"] });
  const stray = Number((await createInterface({ input: keeper.stderr })[Symbol.asyncIterator]().next()).value);
  onTestFinished(() => void process.kill(stray, "SIGKILL"));
  await once(keeper, "exit");
  expect([keeper.exitCode, isAlive(stray)]).toEqual([0, true]);
});

test("a program that is not there is an error that names the child", async () => {
  const dir = temporaryDirectory();
  const keeper = new ChildKeeper();
  onTestFinished(() => keeper.close());
  const options = {
    name: "bridge",
    command: join(dir, "none"),
    args: [],
    env: {},
    cwd: dir,
    logFile: join(dir, "log"),
  };
  await expect(keeper.start(options)).rejects.toThrow(/^Cannot start bridge: spawn .*none ENOENT$/);
});

test("stopping ends the grandchildren too, also those that ignore SIGTERM", async () => {
  const child = await start("(trap '' TERM; echo $(exec sh -c 'echo $PPID'); while :; do sleep 1; done) & wait");
  const grandchild = Number(await firstLine(child));
  expect(isAlive(grandchild)).toBe(true);
  await child.stop(10_000);
  await expect.poll(() => isAlive(grandchild)).toBe(false);
  expect(await child.exited).toEqual({ signal: "SIGTERM" });
});

test("a child that ignores SIGTERM is killed after the grace", async () => {
  const child = await start("trap '' TERM; echo ready; while :; do sleep 0.1; done");
  await firstLine(child);
  await child.stop(100);
  expect(await child.exited).toEqual({ signal: "SIGKILL" });
});

test("when the keeper itself is killed with SIGKILL, its children end", async () => {
  const log = join(temporaryDirectory(), "log");
  const script = fileURLToPath(new URL("./keeper.ts", import.meta.url));
  const code = "(trap '' TERM; echo $(exec sh -c 'echo $PPID'); while :; do sleep 1; done) & wait";
  const keeper = spawn(process.execPath, [script, log, code], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: keeper.stdout })[Symbol.asyncIterator]();
  const child = Number((await lines.next()).value);
  const grandchild = await vi.waitUntil(() => Number(/^(\d+)\n/.exec(readFileSync(log, "utf8"))?.[1]), HANG);
  onTestFinished(() => {
    if (isAlive(child)) process.kill(-child, "SIGKILL");
  });
  expect([isAlive(child), isAlive(grandchild)]).toEqual([true, true]);

  keeper.kill("SIGKILL");

  await expect.poll(() => isAlive(child)).toBe(false);
  // This one ignores SIGTERM: the guard waits 5 s and then kills.
  await expect.poll(() => isAlive(grandchild)).toBe(false);
});

test("a process that left its group ends with the run, by the mark that it inherited", async () => {
  const dir = temporaryDirectory();
  const keeper = new ChildKeeper();
  const child = await keeper.start({
    name: "child",
    command: "/bin/sh",
    args: ["-c", "setsid sh -c 'trap \"\" HUP TERM; echo $$; while :; do sleep 1; done' & wait"],
    env: { ...process.env, [RUN_MARK]: keeper.runId },
    cwd: dir,
    logFile: join(dir, "log"),
  });
  const stray = Number(await firstLine(child));
  await child.stop(1000);
  expect(isAlive(stray)).toBe(true);

  keeper.close();

  await expect.poll(() => isAlive(stray)).toBe(false);
});
