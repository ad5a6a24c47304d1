// codex' exec-server over the real system (section 12), by a client without a library.
import { expect, test } from "vitest";
import { type Chunk, RawCodex, textOf } from "../support/clients/codex-raw.ts";
import { fresh, person } from "../support/system/system.ts";

test("E2, E3, E4: a process runs, its output is numbered, and its end is told once", async () => {
  const client = await RawCodex.begin(fresh("box"));
  expect(client.id).toMatch(/^[0-9a-f]{32}$/);
  const started = await client.start("p1", "echo out; sleep 0.2; echo err >&2; sleep 0.2; echo more; exit 3");
  expect(started.result).toEqual({ processId: "p1", sandboxType: "none" });
  expect(await client.exit("p1")).toMatchObject({ exitCode: 3, sandboxDenied: false });
  expect(client.output("p1", "stdout")).toBe("out\nmore\n");
  expect(client.output("p1", "stderr")).toBe("err\n");
  const seqs = client.notifications.map(({ params }) => params.seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  const read = await client.result("process/read", { processId: "p1", afterSeq: null, maxBytes: null, waitMs: 0 });
  expect(textOf(read.chunks as Chunk[])).toBe("out\nerr\nmore\n");
  expect(read).toMatchObject({ nextSeq: seqs.length + 1, exited: true, exitCode: 3, closed: true, failure: null });
  expect(await client.result("process/terminate", { processId: "p1" })).toEqual({ running: false });
});

test("E5: what is written is typed once for each id, and a repeated start finds the process", async () => {
  const client = await RawCodex.begin(fresh("box"), await person());
  await client.start("cat", "cat", { pipeStdin: true });
  const write = (text: string, writeId: string) => {
    const chunk = Buffer.from(text).toString("base64");
    return client.call("process/write", { processId: "cat", chunk, writeId });
  };
  expect((await write("one\n", "1")).result).toEqual({ status: "accepted" });
  expect((await write("one\n", "1")).result).toEqual({ status: "accepted" });
  expect((await write("other\n", "1")).error).toMatchObject({ code: -32602 });
  expect((await write("two\n", "2")).result).toEqual({ status: "accepted" });
  await expect.poll(() => client.output("cat")).toBe("one\ntwo\n");
  expect((await client.start("cat", "cat", { pipeStdin: true })).result).toMatchObject({ processId: "cat" });
  expect(await client.result("process/terminate", { processId: "cat" })).toEqual({ running: true });
  await client.exit("cat");
  expect(client.output("cat")).toBe("one\ntwo\n");
  expect((await write("three\n", "3")).result).toEqual({ status: "stdinClosed" });
});
