// What a process can learn of the bridge's secret: everything that the kernel shows of other processes of its user is asked for
// it. As root the bridge and what it starts are given other users, since root may read everything.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const SECRET = "a-secret-of-this-test-only-5f1c";
const ENTRY = join(import.meta.dirname, "../stdio-ws.ts");
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

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

let root = "";
let child: ChildProcess | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-secret-"));
  chmodSync(root, 0o777);
});

afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/** How the bridge is given its secret, by which user it runs, and which its children get. */
type Way = { readonly secret: "env" | "fd"; readonly uid?: number; readonly childUser?: string };

async function start({ secret, uid, childUser }: Way): Promise<string> {
  child = spawn(process.execPath, [ENTRY], {
    env: {
      ...{ PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", SANDBOX_ROOT: join(root, "sandboxes") },
      ...(secret === "env" ? { STDIO_TOKEN: SECRET } : { STDIO_TOKEN_FD: "3" }),
      ...(childUser === undefined ? {} : { CHILD_USER: childUser }),
    },
    stdio: ["ignore", "pipe", "inherit", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  if (child.stdout === null) throw new Error("The bridge has no stdout");
  const handed = child.stdio[3];
  if (secret === "fd" && handed instanceof Object && "end" in handed) handed.end(SECRET);
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`The bridge ended with ${code}`)));
  ended.catch(() => undefined); // It may end later.
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), ended])) as [string];
  const said = JSON.parse(line) as { listening: string; pid: number };
  // Started again or not, it is the process that its starter knows.
  expect(said.pid).toBe(child.pid);
  return said.listening;
}

async function run(url: string, command: readonly string[], tty: 0 | 1): Promise<string> {
  const [cmd = "", ...args] = command;
  const query = new URLSearchParams({ cmd, tty: String(tty) });
  for (const arg of args) query.append("arg", arg);
  const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
    headers: { Authorization: `Bearer ${SECRET}` },
  });
  socket.binaryType = "arraybuffer";
  let text = "";
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") text += Buffer.from(data as ArrayBuffer).toString("latin1", 1);
  });
  await new Promise((resolve) => socket.addEventListener("close", resolve));
  return text;
}

const steal = async (way: Way) =>
  JSON.parse(await run(await start(way), [process.execPath, "-e", THIEF, SECRET], 0)) as Record<string, unknown>;

describe("a process of the bridge's own user finds the secret nowhere, and can't look into the bridge, where it came", () => {
  test.each(["env", "fd"] as const)("by %s", async (secret) => {
    const way = isRoot ? { secret, uid: NOBODY } : { secret };
    expect(await steal(way)).toMatchObject({ found: [], uid: isRoot ? NOBODY : process.getuid?.() });
  });
});

test.each(["env", "fd"] as const)(
  "given its secret by %s it runs without the last compiler, which its processes keep",
  async (secret) => {
    const url = await start({ secret });
    const environment = await run(url, ["env"], 0);
    expect(environment).toMatch(/^PATH=/m);
    expect(environment).not.toMatch(/^BUN_JSC_/m);
    // Only root may look into a bridge.
    if (isRoot)
      expect(readFileSync(`/proc/${child?.pid}/environ`, "utf8").split("\0")).toContain("BUN_JSC_useFTLJIT=0");
  },
);

test("hidden from its own user, a bridge that is not root still makes terminals and redraws their screens", async () => {
  const url = await start(isRoot ? { secret: "fd", uid: NOBODY } : { secret: "fd" });
  const query = "session=s&tty=1&cmd=sh&arg=-c&arg=seq+30000;+sleep+60";
  const attach = (until: (frame: Uint8Array | string) => boolean) =>
    new Promise<void>((resolve) => {
      const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
        protocols: ["stdio.v1"],
        headers: { Authorization: `Bearer ${SECRET}` },
      });
      socket.binaryType = "arraybuffer";
      let offset = 0;
      socket.addEventListener("message", ({ data }) => {
        const frame = typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer);
        if (typeof frame !== "string") {
          offset += frame.length - 1;
          if (frame[0] === 1) socket.send(JSON.stringify({ type: "ack", offset }));
        }
        if (!until(frame)) return;
        socket.close(1000);
        resolve();
      });
    });
  let text = "";
  await attach((frame) => {
    if (typeof frame !== "string") text += Buffer.from(frame.subarray(1)).toString("latin1");
    return text.includes("30000\r\n");
  });
  // The log is longer than what would be replayed: what comes is a drawing of the screen.
  await attach((frame) => typeof frame !== "string" && frame[0] === 3 && Buffer.from(frame).includes("30000"));
});

// Only root may start a process as somebody else: to an ordinary user these are no tests, rather than skipped ones, which fail.
const describeAsRoot = isRoot ? describe : () => undefined;
describeAsRoot("with CHILD_USER a process", () => {
  test.each(["nobody", String(NOBODY), `${NOBODY}:${NOBODY}`])("runs as %s, and finds nothing", async (childUser) => {
    const stolen = await steal({ secret: "env", childUser });
    expect(stolen).toMatchObject({ found: [], uid: NOBODY, user: "nobody" });
  });

  test("has its terminal, its pipes and its directory, no group of root's, and no way back", async () => {
    const url = await start({ secret: "env", childUser: "nobody" });
    const script = [
      "id -u; id -G; stat -c %u /dev/tty $(tty) . 2>&1 | tr '\\n' ' '; echo; touch mine && echo made",
      "echo through >/dev/stdout; : </dev/tty && echo controlling; grep -i '^CapEff' /proc/self/status",
    ].join("; ");
    const lines = (await run(url, ["sh", "-c", script], 1)).split("\r\n");
    expect(lines).toEqual([
      ...["65534", "65534", `0 ${NOBODY} ${NOBODY} `, "made", "through", "controlling"],
      "CapEff:\t0000000000000000",
      "",
    ]);
    expect(await run(url, ["sh", "-c", "echo a >/dev/stdout; echo b >/dev/stderr; exit 7"], 0)).toContain("a\n");
  });
});

test("of a secret too short to keep anybody out nothing is started: it is said how long it must be", async () => {
  for (const secret of [{ STDIO_TOKEN: "fifteen-letters" }, {}, { STDIO_TOKEN_FD: "77" }]) {
    child = spawn(process.execPath, [ENTRY], {
      env: { PATH: process.env.PATH, PORT: "0", ...secret },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr?.on("data", (chunk) => {
      said += String(chunk);
    });
    const [code] = (await once(child, "close")) as [number];
    expect(code).toBe(2);
    expect(said).toMatch(/STDIO_TOKEN(_FD)? must .*|at least 16 characters/);
  }
});

test.each(["no-such-user", "0", "root", "1:2:3", "-1"])("CHILD_USER=%s is refused at the start", async (childUser) => {
  child = spawn(process.execPath, [ENTRY], {
    env: { PATH: process.env.PATH, PORT: "0", STDIO_TOKEN: SECRET, CHILD_USER: childUser },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  const [code] = (await once(child, "close")) as [number];
  expect([code, said]).toEqual([2, expect.stringContaining("CHILD_USER")]);
});
