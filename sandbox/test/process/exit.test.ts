// How a program's end is told: the true status, once, after the last byte, and nothing left behind.

import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { eventually, inspect, isGone, raw, start } from "../support/process-harness.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe.each([
  { streams: "pipes", tty: false },
  { streams: "a PTY", tty: true },
])("on $streams", ({ tty }) => {
  test.each([
    { signal: "SIGKILL", code: 137 },
    { signal: "SIGABRT", code: 134 },
    { signal: "SIGPIPE", code: 141 },
  ])("death by $signal is code $code and its name", async ({ signal, code }) => {
    const { exited } = start(["sh", "-c", `kill -${signal.slice(3)} $$`], { tty });
    expect(await exited).toEqual({ code, signal });
  });

  test("short of memory, the kernel takes what was started before the bridge: it ranks higher", async () => {
    const { sink, exited } = start(
      ["sh", "-c", "cat /proc/self/oom_score_adj; sh -c 'cat /proc/$PPID/oom_score_adj'"],
      { tty },
    );
    await exited;
    expect(sink.text().match(/\d+/g)).toEqual(["500", "500"]);
    expect(Number(readFileSync("/proc/self/oom_score_adj", "utf8"))).toBeLessThan(500);
  });

  test("an end that is reported together with the last output is told at once", async () => {
    // Else it is only told once the output has been silent for a second, which never comes.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { child, exited, sink } = start(["printf", "x"], { tty });
    // In one turn of the loop, so that nothing is looked at before all of it has happened.
    for (const limit = Date.now() + 5_000; !isGone(child.pid) && Date.now() < limit; );
    expect([await exited, sink.text()]).toEqual([{ code: 0 }, "x"]);
  });

  test("a shell that reports its child's death by a signal has exited by itself", async () => {
    expect(await start(["sh", "-c", "sh -c 'kill -9 $$'; exit $?"], { tty }).exited).toEqual({ code: 137 });
  });

  test("programs that end at once have their true status, for each of 256", async () => {
    for (let code = 0; code < 256; code++) {
      expect(await start(["sh", "-c", `exit ${code}`], { tty }).exited).toEqual({ code });
    }
  });

  test("all output of a program that writes and exits at once comes before the exit", async () => {
    const { sink, exited } = start(["seq", "1", "20000"], { tty });
    let unflushed = -1;
    await exited.then(() => {
      unflushed = sink.unflushedBytes;
    });
    expect(unflushed).toBe(0);
    const lines = sink.text().split(tty ? "\r\n" : "\n");
    expect(lines.length).toBe(20_001);
    expect(lines.slice(0, -1).every((line, index) => line === String(index + 1))).toBe(true);
  });

  test("a held program that exits is told only after its remaining output was released", async () => {
    const { child, sink, exited } = start(["sh", "-c", "echo last words; exit 3"], { tty });
    child.hold();
    let hasExited = false;
    void exited.then(() => {
      hasExited = true;
    });
    await eventually(() => inspect(child.pid) === undefined);
    // Longer than the second of silence that ends other programs.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(hasExited).toBe(false);
    expect(sink.totalBytes).toBe(0);
    child.release();
    expect(await exited).toEqual({ code: 3 });
    expect(sink.text().trim()).toBe("last words");
  });

  test("a background process that keeps the output open delays the exit by a second of silence, and lives on", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const directory = mkdtempSync(join(tmpdir(), "process-exit-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const go = join(directory, "go");
    // A job in another process group, as with an interactive shell's &: the terminal's hangup does not reach it.
    const script =
      "set -m; (for i in 1 2 3; do until [ -e $0$i ]; do sleep 0.02; done; echo late $i; done; exec sleep 60) & echo pid $!; exit 4";
    const { sink, exited } = start(["bash", "-c", script, go], { tty });
    let hasExited = false;
    void exited.then(() => {
      hasExited = true;
    });
    const pid = Number((await sink.until(/pid (\d+)\r?\n/))[1]);
    onTestFinished(() => void process.kill(-pid, "SIGKILL"));
    // The exit is known: the leader is looked at until its session is empty, and the output until it is silent.
    await eventually(() => vi.getTimerCount() === 2);
    for (const i of [1, 2, 3]) {
      vi.advanceTimersByTime(999);
      writeFileSync(`${go}${i}`, "");
      await sink.until(new RegExp(`late ${i}\r?\n`));
    }
    vi.advanceTimersByTime(999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(hasExited).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await exited).toEqual({ code: 4 });
    await eventually(() => inspect(pid)?.state === "S");
  });

  test("what is asked of a program that is gone does nothing", async () => {
    const { child, exited } = start(["true"], { tty });
    await exited;
    expect(child.signal("SIGINT")).toBe(false);
    expect(child.write(new Uint8Array(5))).toBe(5);
    child.resize(10, 10);
    child.closeStdin();
    child.signalAll("SIGKILL");
    child.hold();
    child.release();
    expect(child.veof()).toBe(0);
  });

  test("hundreds of starts leave no descriptor, no zombie and no kernel watch behind", async () => {
    // In another process, so that descriptors of other tests are not counted.
    const script = join(import.meta.dirname, "many-starts.ts");
    const run = Bun.spawn([process.execPath, script, tty ? "tty" : "pipes"], { stdout: "pipe", stderr: "inherit" });
    const { before, after } = JSON.parse(await new Response(run.stdout).text()) as Record<string, string[]>;
    expect(await run.exited).toBe(0);
    expect(after).toEqual(before);
  });

  test("a program gets its three descriptors and none of the bridge's or of other sessions", async () => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
    const others = [start(["cat"], { tty: true }), start(["cat"], { tty: false })];
    const { child, sink, exited } = start(["sh", "-c", "echo ready; read line"], { tty });
    await sink.until(/ready/);
    const open = readdirSync(`/proc/${child.pid}/fd`);
    expect(open).toEqual(["0", "1", "2"]);
    const targets = open.map((fd) => readlinkSync(`/proc/${child.pid}/fd/${fd}`));
    expect(targets.every((target) => target.startsWith(tty ? "/dev/pts/" : "pipe:"))).toBe(true);
    expect(new Set(targets).size).toBe(tty ? 1 : 3);
    for (const other of [...others, { child, exited }]) {
      other.child.signalAll("SIGKILL");
      await other.exited;
    }
    await server.stop(true);
  });

  test("signals are at their defaults in the program, though the bridge ignores SIGPIPE", async () => {
    const { sink, exited } = start(["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], { tty });
    await exited;
    const [blocked = "", ignored = ""] = sink.text().match(/[0-9a-f]{16}/g) ?? [];
    expect(BigInt(`0x${blocked}`)).toBe(0n);
    // Signals 32 and 33 belong to the C library, which sets them up for itself.
    expect(BigInt(`0x${ignored}`) & 0x7fffffffn).toBe(0n);
  });
});

test("a terminal's output that was not read when the program was killed is still delivered", async () => {
  const { child, sink, exited } = start(raw("yes"), { tty: true });
  await sink.until(/y\n/);
  child.hold();
  // By calls of write() that have returned: the one that waits is not among them.
  const writtenBytes = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${child.pid}/io`, "utf8"))?.[1]);
  await eventually(() => writtenBytes() - sink.totalBytes > 3_000);
  const before = writtenBytes();
  child.signalAll("SIGKILL");
  await eventually(() => inspect(child.pid) === undefined);
  child.release();
  expect(await exited).toEqual({ code: 137, signal: "SIGKILL" });
  expect(sink.totalBytes).toBeGreaterThanOrEqual(before);
  expect(/^(y\n)*y?$/.test(sink.text())).toBe(true);
});
