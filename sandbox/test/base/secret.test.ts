// What a process can learn of the bridge's secret: everything that the kernel shows of other processes of its user is asked for
// it. As root the bridge and what it starts are given other users, since root may read everything.

import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  isRoot,
  NOBODY,
  refusedStart,
  run,
  SECRET,
  startBridgeProcess,
  temporary,
  type Way,
} from "../support/bridge.ts";
import { Hop } from "../support/clients.ts";

/** Looks everywhere, and prints what it could do: nothing, where all is well. */
const THIEF = `
  import { readdirSync, readFileSync, openSync, readSync, readlinkSync } from "node:fs";
  import { dlopen, FFIType as t } from "bun:ffi";
  const bridge = process.ppid;
  const found = [];
  const tryTo = (what, look) => { try { if (look()) found.push(what); } catch {} };
  const holds = (path) => readFileSync(path, "latin1").includes(process.argv[1]);
  tryTo("own environment", () => Object.values(process.env).some((value) => value.includes(process.argv[1])));
  for (const pid of readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name) && Number(name) !== process.pid)) {
    tryTo("environ of " + (pid == bridge ? "the bridge" : pid), () => holds("/proc/" + pid + "/environ"));
    tryTo("cmdline of " + (pid == bridge ? "the bridge" : pid), () => holds("/proc/" + pid + "/cmdline"));
  }
  tryTo("descriptors", () => readdirSync("/proc/" + bridge + "/fd").length > 0);
  tryTo("memory", () => openSync("/proc/" + bridge + "/mem", "r") > 0);
  const libc = dlopen("libc.so.6", { ptrace: { args: [t.i64, t.i64, t.i64, t.i64], returns: t.i64 } }).symbols;
  const SEIZE = 0x4206;
  tryTo("ptrace", () => Number(libc.ptrace(SEIZE, bridge, 0, 0)) === 0);
  console.log(JSON.stringify({ found, uid: process.getuid(), home: process.env.HOME, user: process.env.USER }));
`;

function start(way: Omit<Way, "env">) {
  const root = temporary();
  chmodSync(root, 0o777);
  return startBridgeProcess({ ...way, env: { SANDBOX_ROOT: join(root, "sandboxes") } });
}

const steal = async (way: Omit<Way, "env">) =>
  JSON.parse(await run((await start(way)).url, [process.execPath, "-e", THIEF, SECRET])) as Record<string, unknown>;

describe("a process of the bridge's own user finds the secret nowhere, and can't look into the bridge, where it came", () => {
  test.each(["env", "fd"] as const)("by %s", async (secret) => {
    const way = isRoot ? { secret, uid: NOBODY } : { secret };
    expect(await steal(way)).toMatchObject({ found: [], uid: isRoot ? NOBODY : process.getuid?.() });
  });
});

test.each(["env", "fd"] as const)(
  "given its secret by %s it runs without the last compiler, which its processes keep",
  async (secret) => {
    const { child, url } = await start({ secret });
    const environment = await run(url, ["env"]);
    expect(environment).toMatch(/^PATH=/m);
    expect(environment).not.toMatch(/^BUN_JSC_/m);
    // Only root may look into a bridge.
    if (isRoot) expect(readFileSync(`/proc/${child.pid}/environ`, "utf8").split("\0")).toContain("BUN_JSC_useFTLJIT=0");
  },
);

test("hidden from its own user, a bridge that is not root still makes terminals and redraws their screens", async () => {
  const { url } = await start(isRoot ? { secret: "fd", uid: NOBODY } : { secret: "fd" });
  const query = new URLSearchParams("session=s&tty=1&cmd=sh&arg=-c&arg=seq+30000;+sleep+60");
  const hop = await Hop.open(url, SECRET, query);
  hop.attach();
  await hop.until(() => hop.output.includes("30000\r\n"));
  hop.say({ type: "snapshot" });
  await hop.until(() => hop.snapshot.includes("30000"));
});

// Only root may start a process as another user. For other users these tests don't exist, as skipped tests fail.
const describeAsRoot = isRoot ? describe : () => undefined;
describeAsRoot("with CHILD_USER a process", () => {
  test.each(["nobody", String(NOBODY), `${NOBODY}:${NOBODY}`])("runs as %s, and finds nothing", async (childUser) => {
    const stolen = await steal({ secret: "env", childUser });
    expect(stolen).toMatchObject({ found: [], uid: NOBODY, user: "nobody" });
  });

  test("has its terminal, its pipes and its directory, no group of root's, and no way back", async () => {
    const { url } = await start({ secret: "env", childUser: "nobody" });
    const script = [
      "id -u; id -G; stat -c %u /dev/tty $(tty) . 2>&1 | tr '\\n' ' '; echo; touch mine && echo made",
      "echo through >/dev/stdout; : </dev/tty && echo controlling; grep -i '^CapEff' /proc/self/status",
    ].join("; ");
    const lines = (await run(url, ["sh", "-c", script], { tty: "1" })).split("\r\n");
    expect(lines).toEqual([
      ...["65534", "65534", `0 ${NOBODY} ${NOBODY} `, "made", "through", "controlling"],
      "CapEff:\t0000000000000000",
      "",
    ]);
    expect(await run(url, ["sh", "-c", "echo a >/dev/stdout; echo b >/dev/stderr; exit 7"])).toContain("a\n");
  });
});

test("of a secret too short to keep anybody out nothing is started: it is said how long it must be", async () => {
  for (const secret of [{ STDIO_TOKEN: "fifteen-letters" }, {}, { STDIO_TOKEN_FD: "77" }]) {
    const { code, said } = await refusedStart(secret);
    expect(code).toBe(2);
    expect(said).toMatch(/STDIO_TOKEN(_FD)? must .*|at least 16 characters/);
  }
});

test.each(["no-such-user", "0", "root", "1:2:3", "-1"])("CHILD_USER=%s is refused at the start", async (childUser) => {
  const { code, said } = await refusedStart({ STDIO_TOKEN: SECRET, CHILD_USER: childUser });
  expect([code, said]).toEqual([2, expect.stringContaining("CHILD_USER")]);
});
