// Three real pipes: apart, reopenable, with an end; and input that waits for a slow reader.

import { createHash } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { libc } from "../../src/base/libc.ts";
import type { ChildProcess } from "../../src/process/process.ts";
import { eventually, isGone, start } from "../support/process-harness.ts";

/** A pipe that carries much has so much room. */
const GROWN_BYTES = 256 * 1024;

test("the program can open /dev/stdout, /dev/stderr and /dev/stdin again", async () => {
  const script = "echo x >/dev/stdout; echo y >/dev/stderr; cat /dev/stdin";
  const { child, sink, exited, type } = start(["sh", "-c", script]);
  await type("z\n");
  child.closeStdin();
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text(1)).toBe("x\nz\n");
  expect(sink.text(2)).toBe("y\n");
});

test("the program's descriptors are pipes, and blocking", async () => {
  const script = "for fd in 0 1 2; do readlink /proc/$$/fd/$fd; grep flags /proc/$$/fdinfo/$fd; done";
  const { sink, exited } = start(["sh", "-c", script]);
  await exited;
  expect(
    sink
      .text()
      .replaceAll(/\[\d+\]/g, "")
      .split("\n"),
  ).toEqual(["pipe:", "flags:\t00", "pipe:", "flags:\t01", "pipe:", "flags:\t01", ""]);
});

test("closing stdin is the end of file, after all that was written", async () => {
  const { child, sink, exited, type } = start(["sh", "-c", "wc -c; echo done"]);
  await type("x".repeat(300_000));
  child.closeStdin();
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text().trim()).toBe("300000\ndone");
});

test("the program leads a session and a process group of its own, without a terminal", async () => {
  const { child, sink, exited } = start(["sh", "-c", "ps -o pgid=,sid=,tty= -p $$"]);
  await exited;
  expect(sink.text().trim().split(/ +/)).toEqual([String(child.pid), String(child.pid), "?"]);
});

test("a signal goes to the program's whole group", async () => {
  const { child, sink, exited } = start(["sh", "-c", "sleep 60 & echo $!; wait"]);
  const pid = Number((await sink.until(/(\d+)\n/))[1]);
  expect(child.signal("SIGTERM")).toBe(true);
  expect(await exited).toEqual({ code: 143, signal: "SIGTERM" });
  await eventually(() => isGone(pid));
});

test("input for a program that has closed its stdin is dropped, and the writer is not left waiting", async () => {
  const { child, sink, exited, type } = start(["sh", "-c", "echo up; sleep 0.1; exec <&-; echo closed; sleep 60"]);
  await sink.until(/up/);
  // More than a pipe holds: waits for room, until the reader goes.
  await type(new Uint8Array(1_000_000));
  await sink.until(/closed/);
  expect(child.write(new Uint8Array(100_000))).toBe(100_000);
  child.signalAll("SIGKILL");
  await exited;
});

test("input that waits when the program exits is dropped, and the writer is not left waiting", async () => {
  const { exited, type } = start(["sleep", "0.1"]);
  await type(new Uint8Array(1_000_000));
  expect(await exited).toEqual({ code: 0 });
});

test("a program that does not read takes what a pipe holds and not a byte more", async () => {
  const { child, exited } = start(["sleep", "60"]);
  expect(child.write(new Uint8Array(1_000_000))).toBe(65_536);
  expect(child.write(new Uint8Array(1))).toBe(0);
  child.signalAll("SIGKILL");
  await exited;
});

test("the pipe of much output has grown, so that its program runs longer before it waits; others have not", async () => {
  const much = start(["sh", "-c", "echo up; exec yes"]);
  const little = start(["sh", "-c", "echo up; exec sleep 60"]);
  await Promise.all([much, little].map(({ sink }) => sink.until(/up/)));
  await eventually(() => much.sink.totalBytes > 100_000);
  expect([much, little].map(({ child }) => pipeBytes(child.pid, 1))).toEqual([GROWN_BYTES, 65_536]);
  for (const { child } of [much, little]) child.signalAll("SIGKILL");
  await Promise.all([much.exited, little.exited]);
});

/** The room in the pipe that is one of a program's standard streams. */
function pipeBytes(pid: number, stream: 0 | 1): number {
  const F_GETPIPE_SZ = 1032;
  const fd = openSync(`/proc/${pid}/fd/${stream}`, "r");
  try {
    return libc.fcntl(fd, F_GETPIPE_SZ, 0);
  } finally {
    closeSync(fd);
  }
}

test("input's pipe has grown once it was full and read; only 64 have, and others may when those have ended", async () => {
  const fill = async () => {
    // The program reads when it is told to, so that its pipe has been full.
    const told = "sleep 60 & trap : USR1; echo up; wait $!; head -c 65536 >/dev/null; exec sleep 60";
    const run = start(["sh", "-c", told]);
    await run.sink.until(/up/);
    const typed = run.type(new Uint8Array(65_537));
    run.child.signal("SIGUSR1");
    // The last byte goes in when the program has read. More than fits then asks for room.
    await typed;
    run.child.write(new Uint8Array(100_000));
    return { ...run, pipeBytes: pipeBytes(run.child.pid, 0) };
  };
  const end = async (runs: readonly { child: ChildProcess; exited: Promise<unknown> }[]) => {
    for (const { child } of runs) child.signalAll("SIGKILL");
    await Promise.all(runs.map(({ exited }) => exited));
  };
  const first = await Promise.all(Array.from({ length: 64 }, fill));
  const one = await fill();
  await end(first);
  const another = await fill();
  await end([one, another]);
  expect(new Set(first.map((run) => run.pipeBytes))).toEqual(new Set([GROWN_BYTES]));
  expect([one, another].map((run) => run.pipeBytes)).toEqual([65_536, GROWN_BYTES]);
});

test("50 MB for a program that reads late arrive whole", async () => {
  const total = 50_000_000;
  const random = new Random(1);
  const block = Uint8Array.from({ length: 1 << 20 }, () => random.next() * 256);
  const expected = createHash("sha256");
  const { child, sink, exited, type } = start(["sh", "-c", "sleep 0.3; exec sha256sum"]);
  for (let sent = 0; sent < total; ) {
    const piece = block.subarray(0, Math.min(block.length, total - sent));
    await type(piece);
    expected.update(piece);
    sent += piece.length;
  }
  child.closeStdin();
  expect(await exited).toEqual({ code: 0 });
  expect(sink.text().slice(0, 64)).toBe(expected.digest("hex"));
});
