// D1, D6: who waits for one stream of a process is told of gaps in that one alone.
import { OutputLog, STREAM_STDERR, STREAM_STDOUT } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { Reached } from "../../src/programs/operations/reached.ts";
import { read } from "../../src/programs/operations/read.ts";

const READ = { type: "read", maxBytes: 65_536, waitMs: 600_000, format: "base64" } as const;

function running() {
  const log = new OutputLog({ cols: 80, rows: 24 });
  let changed: () => void = () => undefined;
  const reached: Reached = {
    ...{ incarnation: "i", isTty: false, log, state: "running", exit: undefined, session: undefined, isStale: false },
    watch: (callback) => {
      changed = callback;
      return () => undefined;
    },
  };
  const say = (length: number, stream: typeof STREAM_STDOUT | typeof STREAM_STDERR) => {
    log.append(new Uint8Array(length), stream);
    changed();
  };
  return { reached, say, log };
}

test("D1: a log that the other stream has overwritten many times is no gap of the stream that is waited for", async () => {
  const { reached, say } = running();
  const answer = read(reached, { ...READ, from: 0, stream: "stderr" }, new AbortController().signal);
  for (let i = 0; i < 16; i += 1) say(200_000, STREAM_STDOUT);
  say(3, STREAM_STDERR);
  const { body, bytes } = await answer;
  expect([body, bytes?.length]).toEqual([
    { incarnation: "i", state: "running", from: 0, next: 3_200_003, end: 3_200_003 },
    3,
  ]);
});

test("D1: what was overwritten before it could be looked at is told as a gap", async () => {
  const { reached, say, log } = running();
  for (let i = 0; i < 16; i += 1) say(200_000, STREAM_STDOUT);
  const { body } = await read(reached, { ...READ, from: 0, stream: "stderr" }, new AbortController().signal);
  expect(body.gap).toEqual({ from: 0, to: log.startOffset });
});
