// Writing to descriptors that are slow, full, or gone.

import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Output } from "../../src/base/output.ts";
import { scratch } from "../fixture/cli.ts";

const NONBLOCK = fs.constants.O_NONBLOCK;

let directory: string;
let reader: number;
let writer: number;
beforeEach(() => {
  directory = scratch();
  const fifo = join(directory, "fifo");
  execFileSync("mkfifo", [fifo]);
  reader = fs.openSync(fifo, fs.constants.O_RDONLY | NONBLOCK);
  writer = fs.openSync(fifo, fs.constants.O_WRONLY | NONBLOCK);
});
afterEach(() => {
  fs.closeSync(writer);
});

/** What is in the pipe now. */
function drain(): Buffer {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    let count = 0;
    try {
      count = fs.readSync(reader, chunk);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EAGAIN")) throw error;
    }
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, count));
  }
}

function start() {
  const ends: number[] = [];
  const broken: (string | undefined)[] = [];
  const output = new Output({
    written: (end) => ends.push(end),
    broken: (_fd, error) => broken.push(error.code),
  });
  return { output, ends, broken };
}

test("a full descriptor that nobody made blocking is waited for, and every byte comes once and in order", async () => {
  const { output, ends } = start();
  const bytes = Buffer.alloc(1_000_000, "0123456789abcdefghijklmnopq");
  for (let at = 0; at < bytes.length; at += 10_000) {
    output.push(writer, bytes.subarray(at, at + 10_000), at + 10_000);
  }
  const received: Buffer[] = [];
  let isFlushed = false;
  const flushed = output.flushed().then(() => {
    isFlushed = true;
  });
  while (!isFlushed) {
    await new Promise((resolve) => setImmediate(resolve));
    received.push(drain());
  }
  await flushed;
  received.push(drain());
  expect(Buffer.concat(received).equals(bytes)).toBe(true);
  expect(ends.at(-1)).toBe(1_000_000);
  expect(ends).toEqual([...ends].sort((a, b) => a - b));
  expect(output.writtenTo(writer)).toBe(1_000_000);
  fs.closeSync(reader);
});

test("what is not written yet is not told as written, to the byte", async () => {
  const { output, ends } = start();
  const told = () => ends.at(-1) ?? 0;
  output.push(writer, Buffer.alloc(10), 10);
  output.push(writer, Buffer.alloc(200_000), 200_010);
  // The pipe is full.
  await expect.poll(told).toBeGreaterThan(10);
  const inside = told();
  expect(inside).toBeLessThan(200_010);
  expect(output.writtenTo(writer)).toBe(inside);
  // No more than that is read: as soon as there is room, more is written.
  let length = 0;
  while (length < inside) length += fs.readSync(reader, Buffer.alloc(inside - length));
  await expect
    .poll(() => {
      length += drain().length;
      return length;
    })
    .toBe(200_010);
  // Left to itself it would write on, into what the next test opens under the same number.
  await output.flushed();
  expect(told()).toBe(200_010);
  fs.closeSync(reader);
});

test("what is dropped is not told, what of it was written is", async () => {
  const { output, ends } = start();
  output.push(writer, Buffer.alloc(200_000), 200_000);
  output.push(writer, Buffer.alloc(10), 200_010);
  await expect.poll(() => ends.length).toBe(1);
  output.drop();
  const there = drain().length;
  await output.flushed();
  expect(ends.at(-1)).toBe(there + drain().length);
  fs.closeSync(reader);
});

test("an end without bytes is told in its place", async () => {
  const { output, ends } = start();
  output.push(writer, Buffer.from("a"), 1);
  output.push(writer, Buffer.alloc(0), 5);
  output.push(writer, Buffer.from("b"), 6);
  await output.flushed();
  expect([drain().toString(), ends]).toEqual(["ab", [1, 5, 6]]);
  fs.closeSync(reader);
});

test("two descriptors are written in the order in which it came", async () => {
  const file = join(directory, "both");
  const [one, two] = [fs.openSync(file, "a"), fs.openSync(file, "a")];
  const { output } = start();
  for (let i = 0; i < 20; i += 1) output.push(i % 3 === 0 ? one : two, Buffer.from(`${i},`));
  await output.flushed();
  expect(fs.readFileSync(file, "utf8")).toBe(Array.from({ length: 20 }, (_, i) => `${i},`).join(""));
  fs.closeSync(one);
  fs.closeSync(two);
  fs.closeSync(reader);
});

test("a reader that has gone is told once, and what waits is dropped", async () => {
  const { output, ends, broken } = start();
  fs.closeSync(reader);
  output.push(writer, Buffer.from("a"), 1);
  output.push(writer, Buffer.from("b"), 2);
  await output.flushed();
  output.push(writer, Buffer.from("c"), 3);
  await output.flushed();
  expect([ends, broken]).toEqual([[], ["EPIPE"]]);
});

/** Calls something of ours in a program of its own, whose standard error is the pipe. @returns What it prints. */
function inProgram(call: string, fd = 2): { code: number | null; printed: string } {
  const module = (name: string) => new URL(`../../src/${name}.ts`, import.meta.url).href;
  const script = `
    import fs from "node:fs";
    import { notify, notifyPerson } from "${module("base/print")}";
    import { list } from "${module("programs/list-command")}";
    ${call};
    fs.writeSync(1, fs.readFileSync("/proc/self/fdinfo/${fd}", "utf8"));
  `;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", writer],
    encoding: "utf8",
  });
  return { code: status, printed: stdout };
}

/** Whether the file that is open is non-blocking, for whoever has it. */
const isNonblocking = (fdinfo: string) =>
  (Number.parseInt(/^flags:\s*(\d+)$/m.exec(fdinfo)?.[1] ?? "", 8) & NONBLOCK) !== 0;

test("to see whether a person is there leaves a pipe blocking, for the others that have it", () => {
  fs.closeSync(writer);
  writer = fs.openSync(join(directory, "fifo"), fs.constants.O_WRONLY);
  const { code, printed } = inProgram('notifyPerson("it takes its time")');
  expect([code, isNonblocking(printed), drain().toString()]).toEqual([0, false, ""]);
  const look = inProgram(
    'await list({ isWatched: true }, () => Promise.reject(new Error("no token"))).catch(() => undefined)',
    1,
  );
  expect([look.code, isNonblocking(look.printed)]).toEqual([0, false]);
});

test("a line beside the output, to a pipe that is full or has no reader, ends nothing", () => {
  expect(inProgram('notify("there is room")')).toMatchObject({ code: 0 });
  expect(drain().toString()).toBe("sbx-stdio: there is room\n");
  // Another program that has the pipe may do so; to start one makes it blocking.
  const fill = "process.stderr; try { for (;;) fs.writeSync(2, Buffer.alloc(4_096)) } catch {}";
  const full = inProgram(`${fill}; notify("no room")`);
  expect([full.code, isNonblocking(full.printed)]).toEqual([0, true]);
  expect(drain().toString()).not.toContain("no room");
  fs.closeSync(reader);
  expect(inProgram('notify("no reader")')).toMatchObject({ code: 0 });
});
