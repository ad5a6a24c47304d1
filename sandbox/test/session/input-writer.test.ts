// Input for a real program that does not read yet: written input, waiting input, and the memory that is released.

import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { FakeUpstream, join, rig } from "../../../packages/sandbox-stdio/test/support/fixtures.ts";
import { startProcess } from "../../src/process/process.ts";
import { InputWriter } from "../../src/session/input-writer.ts";
import { Collector, ENV } from "../support/process-harness.ts";

const KIB = 1024;

test("long input is let go of once it is written; what is sent again, before or after, arrives once", async () => {
  const random = new Random(7);
  const input = Uint8Array.from({ length: 200 * KIB }, () => random.next() * 256);
  const piece = (from: number, to: number) => input.slice(from * KIB, to * KIB);

  const output = new Collector();
  const script = `trap go=1 USR1; echo ready; while [ -z "$go" ]; do sleep 0.02; done; exec head -c ${input.length} | sha256sum`;
  const spec = { cmd: "sh", args: ["-c", script], env: ENV, cwd: tmpdir(), tty: false, cols: 80, rows: 24 };
  const child = startProcess(spec, output, { onWritable: () => writer.pump(), onExit: () => undefined });
  if ("fault" in child) throw new Error(child.detail);
  const upstream = new FakeUpstream();
  upstream.input = (client) => writer.push(client);
  const { session } = rig({}, { upstream });
  const writer = new InputWriter(child, session);
  const { client } = join(session, "a");
  await output.until(/ready/);

  // A pipe holds 64 KiB: the first piece goes in, and a part of the second.
  const [first, second, third] = [piece(0, 40), piece(40, 100), piece(100, 160)];
  session.stdin(client, first, 0);
  session.stdin(client, second, 40 * KIB);
  session.stdin(client, third, 100 * KIB);
  expect([first, second, third].map(({ length }) => length / KIB)).toEqual([0, 60, 60]);
  // All of it again in other pieces, and more: pieces of written input, of waiting input, and of both.
  session.stdin(client, piece(0, 40), 0);
  session.stdin(client, piece(20, 80), 20 * KIB);
  const last = piece(80, 200);
  session.stdin(client, last, 80 * KIB);
  expect(client.input.received).toBe(input.length);

  child.signal("SIGUSR1");
  await output.until(new RegExp(createHash("sha256").update(input).digest("hex")));
  expect([second, third, last].map(({ length }) => length)).toEqual([0, 0, 0]);
});
