// Records what you do in a program, for the tests: `bun sandbox/test/screen/record.ts NAME COMMAND [ARGUMENT...]`, in a terminal whose
// size may change meanwhile. It needs only to be what such a program writes, in at most 200 KB.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENV, start } from "../support/process-harness.ts";

const MAX_BYTES = 200_000;
const [name = "", ...command] = process.argv.slice(2);
const { columns: cols, rows } = process.stdout;
const marks: { offset: number; cols: number; rows: number }[] = [];
const env = { ...ENV, COLORTERM: "truecolor", HOME: process.cwd(), SHELL: "/bin/bash" };
const { child, sink, exited, type } = start(command, { tty: true, cols, rows, env, cwd: process.cwd() });
sink.onCommit = (bytes) => void process.stdout.write(bytes);
process.stdout.on("resize", () => {
  const size = { cols: process.stdout.columns, rows: process.stdout.rows };
  marks.push({ offset: sink.totalBytes, ...size });
  child.resize(size.cols, size.rows);
});
process.stdin.setRawMode(true);
process.stdin.on("data", (bytes: Buffer) => void type(bytes));
await exited;
process.stdin.setRawMode(false);
const file = join(import.meta.dirname, "recordings", name);
writeFileSync(`${file}.bin`, Buffer.concat(sink.chunks[1]).subarray(0, MAX_BYTES));
writeFileSync(`${file}.json`, `${JSON.stringify({ cols, rows, marks, command }, undefined, 2)}\n`);
process.exit(0);
