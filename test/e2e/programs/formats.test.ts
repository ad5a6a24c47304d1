// Which bytes a read answers with, and in which form (D1, D2, D4, D6).
import { expect, test } from "vitest";
import { Programs } from "../support/clients/programs.ts";
import { api, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const programs = async () => new Programs(await person());
const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });

test("D4: plain drops sequences and what was overwritten; text and base64 are as the bytes came", async () => {
  const at = await programs();
  const bytes = "\x1b]0;title\x07\x1b[1;31mr\x1b[0moot\r\n10%\r100%\x1b[K\nab\bc\nlang\rkurz\n\x9fgrün\n";
  const { body } = await at.run({ cmd: "cat", stdinBase64: Buffer.from(bytes, "latin1").toString("base64") });
  const read = async (format: string) => (await at.read(body.session, { format })).body.output;
  expect(await read("plain")).toBe("root\n100%\nac\nkurz\n�gr�n\n");
  expect(await read("text")).toBe(Buffer.from(bytes, "latin1").toString("utf8"));
  expect(await read("base64")).toBe(Buffer.from(bytes, "latin1").toString("base64"));
});

test("D4: a text answer ends before an unfinished character while more can come, and with it at the end", async () => {
  const at = await programs();
  await at.put("s", sh("printf 'gr\\303'; read a; printf '\\274n'; read b; printf '\\303'"));
  const first = await until("the first piece", async () => {
    const { body } = await at.read("s", { from: 0, format: "text" });
    return body.end === 3 && body;
  });
  expect(first).toMatchObject({ output: "gr", next: 2, end: 3 });
  expect((await at.read("s", { from: 0, format: "base64" })).body).toMatchObject({ next: 3 });
  expect((await at.read("s", { from: 2, format: "plain" })).body).toMatchObject({ output: "", next: 2 });
  await at.ask("POST", "/sessions/s/input", { enter: true });
  const second = await at.read("s", { from: 2, waitMs: 20_000 });
  expect(second.body).toMatchObject({ output: "ün", next: 5 });
  await at.ask("POST", "/sessions/s/input", { enter: true });
  expect((await at.wait("s", { until: { exit: true } })).body.outcome).toBe("met");
  expect((await at.read("s", { from: 5 })).body).toMatchObject({ output: "�", next: 6, end: 6 });
});

test("D2: tail, to and maxBytes bound a read, of the stream that is asked for; what can't be is 400", async () => {
  const at = await programs();
  const { session } = (await at.run(sh("echo 0123456789; sleep 0.05; echo err >&2; sleep 0.05; echo abcdefghijklmnop")))
    .body;
  const read = async (query: Record<string, string | number>) => (await at.read(session, query)).body;
  expect(await read({ tail: 17 })).toMatchObject({ from: 15, next: 32, output: "abcdefghijklmnop\n" });
  expect(await read({ tail: 0 })).toMatchObject({ from: 32, next: 32, output: "" });
  expect(await read({ tail: 9_999 })).toMatchObject({ from: 0, next: 32 });
  expect(await read({ from: 2, to: 5 })).toMatchObject({ from: 2, next: 5, end: 32, output: "234" });
  expect(await read({ stream: "stdout", maxBytes: 16 })).toMatchObject({ output: "0123456789\nabcde", next: 20 });
  expect(await read({ stream: "stderr", maxBytes: 16 })).toMatchObject({ output: "err\n", next: 32 });
  expect(await at.read(session, { from: 33 })).toMatchObject({ status: 400, body: { error: "bad_offset", end: 32 } });
  const wrong = [{ maxBytes: 15 }, { maxBytes: 1_048_577 }, { waitMs: 600_001 }, { from: -1 }, { stream: "both" }];
  for (const query of wrong) {
    expect(await at.read(session, query as Record<string, string | number>)).toMatchObject({
      status: 400,
      body: { error: "bad_request" },
    });
  }
});

test("D6: a stream with to ends there, while the process runs on, and is 204 after it", async () => {
  const at = await programs();
  await at.put("s", sh("echo 0123456789; cat"));
  const path = at.path("/sessions/s/output?from=2&to=6");
  const ask = (headers: Record<string, string>) =>
    api(at.who, path, { headers: { Accept: "text/event-stream", ...headers }, signal: AbortSignal.timeout(30_000) });
  const { body } = await at.read("s", { from: 0, waitMs: 20_000 });
  const text = await (await ask({})).text();
  const id = `${body.incarnation}.6`;
  const data = JSON.stringify({ from: 2, next: 6, output: "2345" });
  expect(text.replace(/^(: \n\n)+/, "")).toBe(`event: output\nid: ${id}\ndata: ${data}\n\n`);
  expect((await ask({ "Last-Event-ID": id })).status).toBe(204);
  expect((await at.describe("s")).body.state).toBe("running");
});
