// The terminal as programs see it: controlling, sized, with job control; and the signals that go through it.

import { expect, test } from "vitest";
import { Collector, ENV, eventually, inspect, isGone, raw, start } from "../support/process-harness.ts";

/** A terminal that the shell's line editor decorates nothing on. */
const SHELL = { tty: true, env: { ...ENV, TERM: "dumb", PS1: "prompt> " } };
const CTRL_C = "\x03";
const CTRL_Z = "\x1a";

test("the program leads a session of its own and has the terminal as the controlling one", async () => {
  const { child, sink, exited } = start(
    ["sh", "-c", "ps -o pid=,pgid=,sid=,tpgid= -p $$; tty; : </dev/tty && echo ok"],
    {
      tty: true,
    },
  );
  expect(await exited).toEqual({ code: 0 });
  const [ids = "", tty, ok] = sink.text().split("\r\n");
  expect(ids.trim().split(/ +/).slice(0, 3)).toEqual(Array(3).fill(String(child.pid)));
  expect(tty).toMatch(/^\/dev\/pts\/\d+$/);
  expect(ok).toBe("ok");
});

test("the terminal erases whole UTF-8 characters and starts in the given size", async () => {
  const { sink, exited } = start(["sh", "-c", "stty size; stty -a"], { tty: true, cols: 101, rows: 33 });
  await exited;
  expect(sink.text()).toMatch(/^33 101\r\n/);
  expect(sink.text()).toMatch(/\siutf8\s/);
  expect(sink.text()).toMatch(/\sicanon\s/);
});

test("a new size is seen by stty and announced by SIGWINCH", async () => {
  const script = 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done';
  const { child, sink, exited } = start(["sh", "-c", script], { tty: true });
  await sink.until(/ready/);
  child.resize(132, 43);
  await sink.until(/43 132\r\n/);
  child.resize(1000, 500);
  await sink.until(/500 1000\r\n/);
  child.signalAll("SIGKILL");
  await exited;
});

test("an answer to a key is read once: more of it would be reported", async () => {
  let looks = 0;
  class Counter extends Collector {
    override reserve(): Uint8Array {
      looks += 1;
      return super.reserve();
    }
  }
  const { child, sink, exited, type } = start(raw("sh -c 'printf ready; exec cat'"), { tty: true }, new Counter());
  await sink.until(/ready$/);
  const before = looks;
  for (let key = 1; key <= 20; key += 1) {
    await type("x");
    await sink.until(new RegExp(`x{${key}}$`));
  }
  // Not one each: a report that came during a read leads to a look for nothing.
  expect(looks - before).toBeLessThan(40);
  child.signalAll("SIGKILL");
  await exited;
});

test("^C interrupts the foreground program and not the shell", async () => {
  const { child, sink, exited, type } = start(["bash", "--norc", "-i"], SHELL);
  await sink.until(/prompt> $/);
  await type("sleep 60 && echo woke\n");
  // Until it is another program, the job has the shell's own handlers.
  await eventually(() => nameOf(foregroundOf(child.pid)) === "sleep");
  await type(CTRL_C);
  await sink.until(/\^C\r\nprompt> $/);
  await type("echo status $?\n");
  await sink.until(/\nstatus 130\r\n/);
  expect(sink.text()).not.toContain("\nwoke");
  await type("exit 9\n");
  expect(await exited).toEqual({ code: 9 });
});

test("^Z stops a job, fg brings it back", async () => {
  const { child, sink, exited, type } = start(["bash", "--norc", "-i"], SHELL);
  await type("sleep 60\n");
  // Until it is another program, the job has the shell's own handlers: it would not stop.
  await eventually(() => nameOf(foregroundOf(child.pid)) === "sleep");
  await type(CTRL_Z);
  await sink.until(/Stopped +sleep 60/);
  await type("fg\n");
  await eventually(() => foregroundOf(child.pid) !== child.pid);
  await type(CTRL_C);
  await type("exit\n");
  expect(await exited).toEqual({ code: 130 });
});

test("a signal goes to the foreground process group, and to the shell when it is back in front", async () => {
  const { child, sink, exited, type } = start(["bash", "--norc", "-i"], SHELL);
  await type("sh -c 'trap \"echo got usr1\" USR1; echo up; while :; do sleep 0.05; done'\n");
  await sink.until(/\nup\r\n/);
  expect(child.signal("SIGUSR1")).toBe(true);
  await sink.until(/got usr1/);
  expect(child.signal("SIGKILL")).toBe(true);
  await eventually(() => foregroundOf(child.pid) === child.pid);
  await eventually(() => inspect(child.pid)?.state === "S");
  expect(child.signal("SIGHUP")).toBe(true);
  expect(await exited).toEqual({ code: 129, signal: "SIGHUP" });
});

test("a signal that does not exist is our own mistake", async () => {
  const { child, exited } = start(["cat"], { tty: true });
  expect(() => child.signal("SIGNOTHING")).toThrow(RangeError);
  expect(() => child.signalAll("9")).toThrow("Cannot send 9: no such signal");
  child.signalAll("SIGKILL");
  await exited;
});

test.each([{ tty: true }, { tty: false }])(
  "every process of the session dies by signalAll, whatever its process group (tty: $tty)",
  async ({ tty }) => {
    // Two background jobs in groups of their own, one stopped, one that ignores the polite signals; a pipeline in front.
    const script = `set -m
      sh -c 'trap "" HUP TERM; sleep 60; sleep 60' & echo job $!
      sh -c 'kill -STOP $$; sleep 60' & echo job $!
      set +m; sh -c 'sleep 60 | cat' & echo job $!
      echo ready; wait`;
    const { child, sink, exited } = start(["bash", "-c", script], { tty });
    await sink.until(/ready/);
    const jobs = [...sink.text().matchAll(/job (\d+)/g)].map((match) => Number(match[1]));
    expect(jobs.length).toBe(3);
    await eventually(() => inspect(jobs[1] ?? 0)?.state === "T");
    await eventually(() => membersOf(child.pid).length === 7);
    child.signalAll("SIGKILL");
    expect(await exited).toEqual({ code: 137, signal: "SIGKILL" });
    await eventually(() => membersOf(child.pid).length === 0);
  },
);

test("signalAll still reaches what the program left behind after its exit, and nobody once that is gone", async () => {
  const script = "trap '' HUP; set -m; sh -c 'trap \"\" HUP; sleep 60' & echo job $!; exit 0";
  const { child, sink, exited } = start(["bash", "-c", script], { tty: true });
  await exited;
  const job = Number(/job (\d+)/.exec(sink.text())?.[1]);
  expect(inspect(job)?.session).toBe(child.pid);
  child.signalAll("SIGTERM");
  await eventually(() => isGone(job) && membersOf(child.pid).length === 0);
  // The dead leader, kept so that its id stays ours, is reaped when it is alone.
  await eventually(() => inspect(child.pid) === undefined);
  child.signalAll("SIGKILL");
});

test("a program that gives all its descriptors away can open its terminal again", async () => {
  const { sink, exited } = start(["sh", "-c", "exec </dev/null >/dev/null 2>&1; sleep 0.2; echo back >/dev/tty"], {
    tty: true,
  });
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text()).toBe("back\r\n");
});

test("the end-of-file character is the terminal's own", async () => {
  const { child, sink, exited, type } = start(["sh", "-c", "read go; stty eof ^X; echo set; cat; echo end"], {
    tty: true,
  });
  expect(child.veof()).toBe(0x04);
  await type("\n");
  await sink.until(/set\r\n/);
  expect(child.veof()).toBe(0x18);
  await type(Uint8Array.of(child.veof()));
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text()).toContain("end\r\n");
});

test("a terminal where end of file is switched off has no such character", async () => {
  const { child, sink, exited } = start(["sh", "-c", "stty eof undef; echo set; sleep 60"], { tty: true });
  await sink.until(/set/);
  expect(child.veof()).toBe(0);
  child.signalAll("SIGKILL");
  await exited;
});

test("the program hangs up with the bridge: SIGHUP when the master is closed", async () => {
  const source = `
    const { startProcess } = await import(${JSON.stringify(new URL("../../src/process/process.ts", import.meta.url).href)});
    const room = new Uint8Array(4096);
    const sink = { reserve: () => room, commit: () => process.kill(process.pid, "SIGKILL"), flush() {} };
    const child = startProcess(
      { cmd: "sh", args: ["-c", "echo up; exec sleep 60"], env: process.env, cwd: "/", tty: true, cols: 80, rows: 24 },
      sink, { onWritable() {}, onExit() {} });
    require("node:fs").writeSync(1, String(child.pid));
    setTimeout(() => {}, 20_000);`;
  const bridge = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe", stderr: "inherit" });
  const pid = Number(await new Response(bridge.stdout).text());
  await bridge.exited;
  expect(bridge.signalCode).toBe("SIGKILL");
  await eventually(() => isGone(pid));
});

test("input that waits when the program exits is dropped, and the writer is not left waiting", async () => {
  const { child, sink, exited, type } = start(raw("sh -c 'printf ready; exec sleep 60'"), { tty: true });
  await sink.until(/ready/);
  const typed = type(new Uint8Array(1_000_000));
  child.signalAll("SIGKILL");
  await Promise.all([typed, exited]);
});

test("a raw terminal carries every byte value both ways", async () => {
  const { child, sink, exited, type } = start(raw("cat"), { tty: true });
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);
  await eventually(() => cookedOff(child.pid));
  await type(all);
  await eventually(() => sink.totalBytes === 256);
  expect(Buffer.concat(sink.chunks[1])).toEqual(Buffer.from(all));
  child.signalAll("SIGKILL");
  await exited;
});

/** stty has run and given its place to the program. */
function cookedOff(pid: number): boolean {
  return Bun.spawnSync(["ps", "-o", "comm=", "-p", String(pid)]).stdout.toString() === "cat\n";
}

function foregroundOf(pid: number): number {
  return Number(Bun.spawnSync(["ps", "-o", "tpgid=", "-p", String(pid)]).stdout.toString());
}

function nameOf(pid: number): string {
  return Bun.spawnSync(["ps", "-o", "comm=", "-p", String(pid)])
    .stdout.toString()
    .trim();
}

function membersOf(session: number): number[] {
  const { stdout } = Bun.spawnSync(["ps", "-e", "-o", "pid=,sid=,stat="]);
  return stdout
    .toString()
    .split("\n")
    .map((line) => line.trim().split(/ +/))
    .filter(([, sid, state = ""]) => Number(sid) === session && !state.startsWith("Z"))
    .map(([pid]) => Number(pid));
}
