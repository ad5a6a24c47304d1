// A week of `sbx-stdio serve` in an hour: upgrades, crashes and jumps of the clock under people who type, thousands of sessions, and a
// full disk. The settings of the environment make it shorter. Needs a C compiler.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Attached, act, attached, installServe, Served, stateFolder } from "../support/system/served.ts";
import { until } from "../support/system/wait.ts";

const SESSIONS = Number(process.env.WEEK_SESSIONS ?? 1_000);
const ROUNDS = Number(process.env.WEEK_ROUNDS ?? 8);
const PEOPLE = 10;
/** So many at once. */
const WIDTH = 8;
/** Of the bridge, since it is warm. Two objects or a kilobyte that each session leaves are more by the end of 10,000. */
const WARM_STEPS = 3;
const [MORE_OBJECTS, MORE_KILOBYTES] = [8_000, 6_000] as const;
/** Than a server has that nobody has used yet. */
const MORE_DESCRIPTORS = 24;
/** Sizes are taken after each. */
const STEPS = 10;
const ENV = { LIMIT_CALLS_PER_MINUTE: "1000000", LIMIT_ATTACHES_PER_MINUTE: "100000" };

let project = "";

/** Has the installed bridge write down what its collector knows, when a signal asks for it. */
const PROBE = `
process.on("SIGUSR2", async () => {
  const [{ heapStats }, { renameSync }] = await Promise.all([import("bun:jsc"), import("node:fs")]);
  Bun.gc(true);
  await Bun.write(import.meta.path + ".new", JSON.stringify(heapStats()));
  renameSync(import.meta.path + ".new", import.meta.path + ".heap");
});
`;
const bridgeFile = (): string => join(project, "node_modules/sbx-stdio/dist/serve/bridge/stdio-ws.js");

beforeAll(async () => {
  project = await installServe();
  appendFileSync(bridgeFile(), PROBE);
});

/** After a collection. */
async function heapOf(pid: number): Promise<{ readonly objects: number; readonly kilobytes: number }> {
  const file = `${bridgeFile()}.heap`;
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  await until("the bridge to count its objects", () => existsSync(file));
  const { objectCount, heapSize } = JSON.parse(readFileSync(file, "utf8"));
  return { objects: objectCount, kilobytes: Math.round(heapSize / 1024) };
}

/** A wall clock for the parts of a server, which {@link set} puts so many seconds forward. */
function settableClock() {
  const [file, library] = [join(project, "clock"), join(project, "clock.so")];
  const set = (seconds: number): void => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    // In place: the programs have mapped it.
    writeFileSync(file, bytes, { flag: existsSync(file) ? "r+" : "w" });
  };
  set(0);
  const source = join(import.meta.dirname, "../support/system/clock.c");
  execFileSync("cc", ["-shared", "-fPIC", "-O1", "-Wall", "-o", library, source]);
  return { set, env: { LD_PRELOAD: library, CLOCK_FILE: file } };
}

const MOST_LOG_BYTES = 8 * 1024 * 1024;
/** Lines of one write more than that. */
const ONE_WRITE = 1024 * 1024;

afterAll(() => rmSync(project, { recursive: true, force: true }));

type Parts = Readonly<Record<"server" | "worker" | "bridge", number>>;

/** Process ids. */
function partsOf(served: Served): Parts {
  const program = (pid: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/exe`);
    } catch {
      return "";
    }
  };
  const parent = (pid: string): number => Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1]);
  const worker = readdirSync("/proc").find((pid) => program(pid).includes("workerd") && parent(pid) === served.pid);
  const { pid } = JSON.parse(readFileSync(join(served.state, "bridge.json"), "utf8")) as { pid: number };
  return { server: served.pid, worker: Number(worker), bridge: pid };
}

function sizeOf(pid: number): { readonly megabytes: number; readonly descriptors: number } {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { megabytes: Math.round(Number(kilobytes) / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

const sizesOf = (parts: Parts) => Object.fromEntries(Object.entries(parts).map(([name, pid]) => [name, sizeOf(pid)]));

/** Types numbered lines for as long as it is to. Each comes back from `cat`. */
async function typing(one: Attached, isOver: () => boolean): Promise<number> {
  let lines = 0;
  while (!isOver()) {
    one.type(`${lines++}\n`);
    await delay(20);
  }
  return lines;
}

const HOUR = 3_600;
/** Corrections, and a clock that was a day wrong. */
const JUMPS = [0.5 * HOUR, -24 * HOUR, 0, -60];

test("ten people type through upgrades, crashes of each part and jumps of the clock, and no line is lost or doubled", async () => {
  const state = stateFolder();
  const clock = settableClock();
  // With a trace of all sessions the logs are begun anew again and again.
  const env = { ...ENV, ...clock.env, STDIO_TRACE: "*" };
  let served = await Served.start(project, [], { state, env });
  const { port } = served;
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => attached(project, served, ["cat"])));
  let isOver = false;
  const typed = people.map((one) => typing(one, () => isOver));
  const build = join(project, "node_modules/sbx-stdio/dist/serve/bridge/build-id");
  const before = readFileSync(build, "utf8");
  onTestFinished(() => writeFileSync(build, before));
  for (let round = 0; round < ROUNDS; round++) {
    const counts = people.map(({ lines }) => lines());
    await until("all to get further", () => people.every(({ lines }, index) => lines() > (counts[index] ?? 0) + 20));
    if (round % 4 === 3) {
      clock.set(JUMPS[(round >> 2) % JUMPS.length] ?? 0);
      // A key is made and taken by the same clock.
      expect((await act(project, state, ["link", "--link-file", join(state, "link")], String(port))).code).toBe(0);
    } else if (round % 4 === 0) {
      // An upgrade: another bridge is installed, and waits.
      writeFileSync(build, `build ${round}\n`);
      await served.stop();
      served = await Served.start(project, [], { state, port, env });
      expect((await act(project, state, ["status"])).stdout).toContain(`build ${round} is installed, and follows`);
    } else if (round % 4 === 1) {
      process.kill(partsOf(served).worker, "SIGKILL");
    } else {
      await served.kill();
      served = await Served.start(project, [], { state, port, env });
    }
  }
  isOver = true;
  const counts = await Promise.all(typed);
  for (const [index, one] of people.entries()) {
    const expected = Array.from({ length: counts[index] ?? 0 }, (_, line) => `${line}\n`).join("");
    await until("the last line", () => one.output().length >= expected.length);
    expect(await one.end()).toEqual({ code: 0, output: expected });
  }
  const logs = readdirSync(join(state, "logs")).map(
    (name) => [name, statSync(join(state, "logs", name)).size] as const,
  );
  for (const [name, size] of logs) expect([name, size]).toEqual([name, Math.min(size, MOST_LOG_BYTES + ONE_WRITE)]);
  console.log(`logs: ${JSON.stringify(logs)}`);
  console.log(`${ROUNDS} rounds, ${counts.reduce((sum, count) => sum + count, 0)} lines of ${PEOPLE} people`);
});

/** What is taken for an object of workerd's stays with the allocator after it was unloaded: the next one has it. */
const OBJECT_MEGABYTES = 1;
/** What a heap has not given back yet: the more, the faster sessions come. What stays is counted in objects. */
const MORE_MEGABYTES: Readonly<Record<string, number>> = { server: 64, worker: 32, bridge: 192 };

test("thousands of sessions and restarts of parts leave memory and descriptors as they were", async () => {
  const [state, env] = [stateFolder(), { ...ENV, LIMIT_UNNAMED_SECONDS: "10" }];
  let served = await Served.start(project, [], { state, env });
  const { port, origin } = served;
  const token = (await act(project, state, ["token"], String(port))).stdout.trim();
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const output = { cmd: "sh", args: ["-c", "head -c 20000 /dev/zero | tr '\\0' x"], tty: true };
  let parts = partsOf(served);
  let [repeated, mostDescriptors, isCalm] = [0, 0, true];
  const run = async (body: object): Promise<void> => {
    try {
      const answer = await fetch(`${origin}/api/sandboxes/home/run`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      if (answer.status < 500) return expect(await answer.json()).toMatchObject({ exit: { code: 0 } });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    // Its server, or the Worker, was killed.
    repeated += 1;
    const isUp = () =>
      fetch(`${origin}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until("the server to be back", isUp);
    await run(body);
  };
  const many = (count: number) =>
    Promise.all(
      Array.from({ length: WIDTH }, async () => {
        for (let index = 0; index < count / WIDTH; index++) {
          await run(index % 4 === 0 ? output : { cmd: "true" });
          if (isCalm) mostDescriptors = Math.max(mostDescriptors, sizeOf(parts.worker).descriptors);
        }
      }),
    );
  const first = sizesOf(parts);
  console.log(`at first: ${JSON.stringify(first)}`);
  let warm = { objects: 0, kilobytes: 0 };
  const settled = async () => {
    // Ended sessions are forgotten after a while, and their objects stay loaded for a little.
    const most = (first.worker?.descriptors ?? 0) + MORE_DESCRIPTORS;
    await until("the ended sessions to be unloaded", () => sizeOf(parts.worker).descriptors <= most, 180_000);
  };
  const restarts = [
    async () => process.kill(parts.worker, "SIGKILL"),
    async () => {
      await served.kill();
      served = await Served.start(project, [], { state, port, env });
    },
  ];
  for (let step = 1; step <= STEPS; step++) {
    // Without restarts at first: they would hide what grows.
    isCalm = step <= STEPS - restarts.length;
    const sessions = many(SESSIONS / STEPS);
    if (!isCalm) await restarts[step - (STEPS - restarts.length) - 1]?.();
    await sessions;
    parts = partsOf(served);
    await settled();
    const heap = await heapOf(parts.bridge);
    const sizes = sizesOf(parts);
    const objects = Math.round((mostDescriptors - (first.worker?.descriptors ?? 0)) / 3);
    if (step <= WARM_STEPS)
      warm = {
        objects: Math.max(warm.objects, heap.objects),
        kilobytes: Math.max(warm.kilobytes, heap.kilobytes),
      };
    console.log(
      `${(step * SESSIONS) / STEPS} sessions: ${JSON.stringify({ ...sizes, heap })}, up to ${objects} objects at once`,
    );
    expect(heap.objects).toBeLessThanOrEqual(warm.objects + MORE_OBJECTS);
    expect(heap.kilobytes).toBeLessThanOrEqual(warm.kilobytes + MORE_KILOBYTES);
    for (const [name, { descriptors, megabytes }] of Object.entries(sizes)) {
      const before = first[name] ?? { descriptors: 0, megabytes: 0 };
      const more = (MORE_MEGABYTES[name] ?? 0) + (name === "worker" ? objects * OBJECT_MEGABYTES : 0);
      expect([name, descriptors]).toEqual([name, Math.min(descriptors, before.descriptors + MORE_DESCRIPTORS)]);
      expect([name, megabytes]).toEqual([name, Math.min(megabytes, before.megabytes + more)]);
    }
  }
  expect(repeated).toBeLessThanOrEqual(restarts.length * WIDTH * 2);
  // Files of objects go while it looks.
  const disk = spawnSync("du", ["-sk", "--apparent-size", state], { encoding: "utf8" }).stdout.split("\t")[0];
  console.log(`${repeated} sessions were cut by restarts and asked for again; ${disk} KiB of state`);
});

/** Only root can mount. */
const testAsRoot = process.getuid?.() === 0 ? test : () => undefined;

testAsRoot("with a full disk what runs goes on or waits, and once there is room all of it is there", async () => {
  const state = stateFolder();
  const disk = join(state, "disk");
  mkdirSync(disk, { mode: 0o700 });
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=48m,mode=700", "tmpfs", disk]);
  onTestFinished(() => void execFileSync("umount", ["-l", disk]));
  const served = await Served.start(project, [], { state: disk, env: ENV });
  onTestFinished(async () => void (await act(project, disk, ["stop", "--now"])));
  const people = await Promise.all([0, 1].map(() => attached(project, served, ["cat"])));
  for (const one of people) await one.says("before\n");
  const filler = join(disk, "filler");
  const room = (): number => statfsSync(disk).bavail;
  for (let size = 1 << 20; size >= 4096; size >>= 1) {
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full, but for less.
    }
  }
  expect(room()).toBe(0);
  for (let line = 0; line < 200; line++) for (const one of people) one.type(`full ${line}\n`);
  const answer = await fetch(`${served.origin}/healthz`);
  expect(answer.status).toBe(200);
  // The server itself outlives it, and says what it can't do.
  const refused = await act(project, disk, ["link", "--link-file", join(state, "link2")], String(served.port));
  expect([refused.code, refused.stderr]).toEqual([255, expect.stringMatching(/ENOSPC|no space/i)]);
  rmSync(filler);
  const expected = `before\n${Array.from({ length: 200 }, (_, line) => `full ${line}\n`).join("")}after\n`;
  for (const one of people) {
    one.type("after\n");
    await until("what was typed to come back", () => one.output().endsWith("after\n"));
    expect(await one.end()).toEqual({ code: 0, output: expected });
  }
  expect(existsSync(filler)).toBe(false);
});
