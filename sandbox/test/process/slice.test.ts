// Which slices of a core the kernel gives the bridge's thread and its processes. In another process, as slices can't be reset.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { getPriority, release } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "../../src");
/** The first kernel that gives what is asked for. */
const [MAJOR = 0, MINOR = 0] = release().split(".").map(Number);
const GIVES = MAJOR > 6 || (MAJOR === 6 && MINOR >= 12);

/** Asks the kernel about this thread, and about a process that is started. */
const LOOK = `
  const { addressOf, libc, Struct, SYS } = await import("${SOURCES}/base/libc.ts");
  const { view, bytes } = new Struct(56);
  const look = (pid) => {
    if (libc.syscall(SYS.sched_getattr, pid, addressOf(bytes), 56, 0, 0) !== 0) throw new Error("no attributes");
    return { flags: String(view.getBigUint64(8, true)), slice: String(view.getBigUint64(24, true)) };
  };
  const started = () => {
    const child = Bun.spawn(["sleep", "60"]);
    const seen = look(child.pid);
    child.kill("SIGKILL");
    return seen;
  };
`;

type Seen = { readonly flags: string; readonly slice: string };
type Looks = { readonly own: Seen; readonly child: Seen; readonly isTaken?: boolean };

/** @param niceness Added to that of the tests themselves. */
function look(script: string, niceness = 0): Looks {
  const args = ["-n", String(niceness), process.execPath, "-e", LOOK + script];
  const { stdout, stderr } = spawnSync("nice", args, { encoding: "utf8", timeout: 20_000 });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Looks;
}

const SHORTEN = `
  const { shortenSlices } = await import("${SOURCES}/process/slice.ts");
  const isTaken = shortenSlices();
  console.log(JSON.stringify({ own: look(0), child: started(), isTaken }));
`;

test("the bridge's thread has short slices, and what it starts has the kernel's own", () => {
  const before = look("console.log(JSON.stringify({ own: look(0), child: started() }))");
  expect(before.own.flags).toBe("0");
  expect(look(SHORTEN)).toEqual({
    own: { flags: "1", slice: GIVES ? "100000" : before.own.slice },
    child: before.child,
    isTaken: true,
  });
});

test("the bridge asks for them at its start", async () => {
  const env = { STDIO_TOKEN: "a-secret-of-this-test-only", HOST: "127.0.0.1", PORT: "0", PATH: process.env.PATH };
  const entry = join(import.meta.dirname, "../../stdio-ws.ts");
  const bridge = spawn(process.execPath, [entry], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    await once(bridge.stdout, "data");
    const script = `console.log(JSON.stringify({ own: look(${bridge.pid}), child: started() }))`;
    expect(look(script).own.flags).toBe("1");
  } finally {
    bridge.kill("SIGKILL");
  }
});

test("a priority that its processes would lose is left as it is", () => {
  // Only root may raise it; others have none to lose.
  const isRoot = process.getuid?.() === 0;
  const { own, isTaken } = look(SHORTEN, isRoot ? -5 - getPriority() : 0);
  expect({ flags: own.flags, isTaken }).toEqual({ flags: isRoot ? "0" : "1", isTaken: !isRoot });
});
