// The limits of codex' exec-server that take long to reach.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { codexUrl, RawCodex } from "../support/agents/codex-raw.ts";
import { fresh, person } from "../support/system/system.ts";
import { within } from "../support/system/wait.ts";

test("E5: a full queue is waited for 30 s, and then nothing of the write is typed", async () => {
  const client = await RawCodex.begin(fresh("box"));
  const reads = "sleep 45; head -c 1048576 | wc -c; timeout 1 cat | wc -c";
  await client.start("p", reads, { pipeStdin: true });
  const write = (byte: string, writeId: string) => {
    const chunk = Buffer.from(byte.repeat(1024 * 1024)).toString("base64");
    return client.call("process/write", { processId: "p", chunk, writeId });
  };
  expect((await write("a", "1")).result).toEqual({ status: "accepted" });
  const began = Date.now();
  expect((await write("b", "2")).error).toMatchObject({ code: -32000 });
  expect(Date.now() - began).toBeGreaterThanOrEqual(30_000);
  await client.exit("p");
  expect(client.output("p")).toBe("1048576\n0\n");
});

test("E3: a 65th running process is refused, and one may start when another has ended", async () => {
  const client = await RawCodex.begin(fresh("box"));
  for (let i = 0; i < 64; i += 1) expect((await client.start(`p${i}`, "sleep 600")).result).toBeDefined();
  expect((await client.start("one more", "true")).error).toMatchObject({ code: -32000 });
  await client.result("process/terminate", { processId: "p0" });
  await client.exit("p0");
  expect((await client.start("one more", "true")).result).toBeDefined();
  for (let i = 1; i < 64; i += 1) await client.result("process/terminate", { processId: `p${i}` });
  await Promise.all(Array.from({ length: 63 }, (_, i) => client.exit(`p${i + 1}`)));
});

test("E3: a client that fetches its output has as many processes as it likes, one after the other", async () => {
  const { url } = await codexUrl(await person(), fresh("box"));
  const client = await RawCodex.open(url, { "X-Stdio-Codex-Pull": "1" });
  await client.result("initialize", { clientName: "test", resumeSessionId: null });
  for (let i = 0; i < 70; i += 1) {
    expect((await client.start(`p${i}`, "exit 3")).result).toBeDefined();
    const read = await client.result("process/read", { processId: `p${i}`, afterSeq: 0, waitMs: 60_000 });
    expect([i, read.closed, read.exitCode]).toEqual([i, true, 3]);
  }
  expect(client.notifications).toEqual([]);
});

test("E1, E5, E6: 4 MiB of a file go there and back, 1 MiB is typed whole, and 16 MiB are too much", async () => {
  const [box, text] = [fresh("box"), "0123456789abcdef".repeat(64 * 1024)];
  const client = await RawCodex.begin(box);
  const path = `file:///tmp/${box}`;
  const dataBase64 = Buffer.from(text.repeat(4)).toString("base64");
  await client.result("fs/writeFile", { path, dataBase64 });
  expect(await client.result("fs/readFile", { path })).toEqual({ dataBase64 });
  await client.result("fs/remove", { path });
  expect((await client.start("sum", "sleep 0.3; head -c 1048576 | sha1sum", { pipeStdin: true })).result).toBeDefined();
  const chunk = Buffer.from(text).toString("base64");
  expect(await client.result("process/write", { processId: "sum", chunk, writeId: "w" })).toEqual({
    status: "accepted",
  });
  expect(await client.exit("sum")).toMatchObject({ exitCode: 0 });
  expect(client.output("sum")).toBe(`${createHash("sha1").update(text).digest("hex")}  -\n`);
  client.say({ id: 9, method: "fs/writeFile", params: { path, dataBase64: "A".repeat(17 * 1024 * 1024) } });
  expect([1008, 1009]).toContain((await within("the close", client.closed)).code);
});
