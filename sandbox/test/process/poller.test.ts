// The poller: fair to every reader and to the rest of the event loop, gone when idle, loud when broken.

import { afterEach, expect, test } from "vitest";
import { libc, O_CLOEXEC, O_NONBLOCK } from "../../src/base/libc.ts";
import { Poller, READABLE, type Reader, WRITABLE } from "../../src/process/poller.ts";

const open: number[] = [];

afterEach(() => {
  for (const fd of open.splice(0)) libc.close(fd);
});

function pipe(): { read: number; write: number } {
  const ends = new Int32Array(2);
  libc.pipe2(ends, O_NONBLOCK | O_CLOEXEC);
  const [read = -1, write = -1] = ends;
  open.push(read, write);
  return { read, write };
}

const byte = new Uint8Array(1);

/** For a script in another runtime. */
function moduleUrl(name: string): string {
  return JSON.stringify(new URL(`../../src/process/${name}.ts`, import.meta.url).href);
}

test("each byte written to an idle descriptor is reported, 2000 times", async () => {
  const poller = new Poller();
  const { read, write } = pipe();
  for (let round = 0; round < 2_000; round++) {
    const reported = new Promise<number>((resolve) => {
      const watch = poller.watch(read, READABLE, (events) => {
        watch.stop();
        resolve(events);
      });
    });
    libc.write(write, byte, 1);
    expect(await reported).toBe(READABLE);
    libc.read(read, byte, 1);
  }
});

test("a report is edge triggered, and given again when it is wanted again", async () => {
  const poller = new Poller();
  const { write } = pipe();
  let reports = 0;
  let reported: () => void = () => undefined;
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      reported = resolve;
    });
  const first = next();
  const watch = poller.watch(write, WRITABLE, () => {
    reports += 1;
    reported();
  });
  await first;
  expect(reports).toBe(1);
  watch.want(0);
  const second = next();
  watch.want(WRITABLE);
  await second;
  expect(reports).toBe(2);
  watch.stop();
});

test("an error in a report reaches the top and the other reports are still given", async () => {
  const poller = new Poller();
  const pipes = [pipe(), pipe(), pipe()];
  const seen: number[] = [];
  const uncaught = new Promise<unknown>((resolve) => {
    // vitest's own listeners would call it a failure of the test.
    const listeners = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.once("uncaughtException", (error) => {
      for (const listener of listeners) process.on("uncaughtException", listener);
      resolve(error);
    });
  });
  const done = new Promise<void>((resolve) => {
    for (const [index, { read, write }] of pipes.entries()) {
      const watch = poller.watch(read, READABLE, () => {
        watch.stop();
        seen.push(index);
        if (seen.length === pipes.length) resolve();
        if (index === 0) throw new Error("a bug of ours");
      });
      libc.write(write, byte, 1);
    }
  });
  await done;
  expect(seen).toEqual([0, 1, 2]);
  expect(await uncaught).toEqual(new Error("a bug of ours"));
});

test("readers that always have more take turns, one read each", async () => {
  const poller = new Poller();
  const served: string[] = [];
  const left = { a: 500, b: 500, c: 500 };
  await new Promise<void>((resolve) => {
    for (const name of ["a", "b", "c"] as const) {
      const reader: Reader = {
        readSome: () => {
          served.push(name);
          left[name] -= 1;
          if (Object.values(left).every((count) => count === 0)) resolve();
          return left[name] > 0;
        },
      };
      poller.enqueue(reader);
    }
  });
  expect(served).toEqual(Array.from({ length: 500 }, () => ["a", "b", "c"]).flat());
});

test("while a reader always has more, a byte that arrives elsewhere is served within a few reads", async () => {
  const poller = new Poller();
  const { read, write } = pipe();
  let busyReads = 0;
  let isDone = false;
  poller.enqueue({
    readSome: () => {
      busyReads += 1;
      return !isDone;
    },
  });
  for (let round = 0; round < 100; round++) {
    const reported = new Promise<number>((resolve) => {
      const watch = poller.watch(read, READABLE, () => {
        watch.stop();
        resolve(busyReads);
      });
    });
    const before = busyReads;
    libc.write(write, byte, 1);
    // Written here, between two turns: seen by the next turn before anything else is read.
    expect((await reported) - before).toBeLessThanOrEqual(1);
    libc.read(read, byte, 1);
  }
  isDone = true;
});

test("while a reader always has more, timers, sockets and promises get their turn", async () => {
  const poller = new Poller();
  let isDone = false;
  let reads = 0;
  let most = 0;
  poller.enqueue({
    readSome: () => {
      reads += 1;
      const until = performance.now() + 0.02;
      while (performance.now() < until);
      return !isDone;
    },
  });
  const watchLoop = (): void => {
    most = Math.max(most, reads);
    reads = 0;
    if (!isDone) setImmediate(watchLoop);
  };
  setImmediate(watchLoop);
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("served") });
  for (let round = 0; round < 50; round++) {
    expect(await (await fetch(server.url)).text()).toBe("served");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  isDone = true;
  // A turn is bounded at 0.2 ms: ten reads, and on a busy machine fewer. There may be two between two looks at the loop.
  expect(most).toBeLessThan(40);
});

test("the runtime ends by itself once the last program has, and not before", async () => {
  const source = `
    const { startProcess } = await import(${moduleUrl("process")});
    const room = new Uint8Array(4096);
    const sink = { reserve: () => room, commit() {}, flush() {} };
    startProcess(
      { cmd: "sleep", args: ["0.3"], env: process.env, cwd: "/", tty: true, cols: 80, rows: 24 },
      sink, { onWritable() {}, onExit: (status) => console.log(JSON.stringify(status)) });`;
  const runtime = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe", stderr: "inherit" });
  expect(await new Response(runtime.stdout).text()).toBe('{"code":0}\n');
  expect(await runtime.exited).toBe(0);
});

test("an error thrown by a sink ends the process, loudly", async () => {
  const source = `
    const { startProcess } = await import(${moduleUrl("process")});
    const sink = { reserve: () => new Uint8Array(10), commit() { throw new Error("sink is broken") }, flush() {} };
    startProcess(
      { cmd: "echo", args: ["hi"], env: process.env, cwd: "/", tty: true, cols: 80, rows: 24 },
      sink, { onWritable() {}, onExit() {} });`;
  const runtime = Bun.spawn([process.execPath, "-e", source], { stdout: "ignore", stderr: "pipe" });
  expect(await new Response(runtime.stderr).text()).toContain("sink is broken");
  expect(await runtime.exited).toBe(1);
});
