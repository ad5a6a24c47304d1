// `run` starts its command once, whatever becomes of an answer.

import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { sandbox } from "sandbox-stdio/client";
import { expect, onTestFinished, test } from "vitest";
import { startOnce } from "../../src/attach/start-once.ts";
import { fetchUnlessSilent } from "../../src/connection/silence.ts";
import { collect, runCli, startCli, until } from "../fixture/cli.ts";
import { startServer } from "../fixture/server.ts";

type Reply = { readonly status?: number; readonly body: object } | "cut";
const RUNS = { session: "s", incarnation: "one", state: "running", from: 0, next: 0, end: 0, output: "", stdout: "" };
const EXITED = { ...RUNS, state: "exited", exit: { code: 3 }, next: 3, end: 3, output: "hi\n", stdout: "hi\n" };
const GONE = { status: 404, body: { error: "not_found", message: 'no session "s"' } } as const;

/** A server that gives these answers to *run*, and these to who asks for the session; its output streams are `stream`. */
async function serverOf(runs: Reply[], found: Reply[] = [], stream: Reply = "cut") {
  const asked: Record<string, unknown>[] = [];
  const server = http.createServer(async (request, response) => {
    const isRun = request.method === "PUT" || (request.method === "POST" && request.url?.endsWith("/run"));
    if (isRun) asked.push(JSON.parse(await text(request)));
    const isStream = request.headers.accept === "text/event-stream";
    // More calls than expected find no session: what is asked for is asserted.
    const reply = (isRun ? runs : isStream ? [stream] : found).shift() ?? GONE;
    if (reply === "cut") {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status ?? 200, { "content-type": "application/json" }).end(JSON.stringify(reply.body));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test("after a lost answer it asks for the process that is there, and for no other", async () => {
  const { url, asked } = await serverOf(["cut", { body: EXITED }], [{ body: { session: "s", incarnation: "one" } }]);
  expect(await runCli(["run", url, "--session", "s", "--", "x"])).toEqual({
    ...{ code: 3, signal: null },
    ...{ stdout: "hi\n", stderr: "" },
  });
  expect(asked.map(({ incarnation }) => incarnation)).toEqual([undefined, "one"]);
});

test("where there is none, it starts the command again only as long as an ended one would be there", async () => {
  const early = await serverOf(["cut", { body: EXITED }], [GONE]);
  expect(await runCli(["run", early.url, "--session", "s", "--", "x"])).toMatchObject({ code: 3, stderr: "" });
  expect(early.asked.length).toBe(2);
  const late = await serverOf(["cut", { body: EXITED }], [GONE]);
  expect(await runCli(["run", late.url, "--session", "s", "--keep-exited-seconds", "0", "--", "x"])).toEqual({
    ...{ code: 255, signal: null, stdout: "" },
    stderr:
      "sbx-stdio: the response was lost and session s does not exist: the command may have run, so it is not started again\n",
  });
  expect(late.asked.length).toBe(1);
});

test("a detached start is repeated by the same rule", async () => {
  for (const words of [[], ["--stdin", "in"]]) {
    const all = ["--session", "s", "--detach", ...words, "--keep-exited-seconds", "0", "--", "x"];
    const there = await serverOf(["cut", { body: RUNS }], [{ body: { session: "s", incarnation: "one" } }]);
    expect(await runCli(["run", there.url, ...all])).toMatchObject({ code: 0, stdout: "s\n" });
    expect(there.asked.map(({ incarnation }) => incarnation)).toEqual([undefined, "one"]);
    const gone = await serverOf(["cut", { body: RUNS }], [GONE]);
    expect(await runCli(["run", gone.url, ...all])).toMatchObject({ code: 255, stdout: "" });
    expect(gone.asked.length).toBe(1);
  }
});

test("input that is typed on, and a wait that goes on, mean the one process: without it, it was lost", async () => {
  for (const words of [
    ["--stdin", "in"],
    ["--max-bytes", "16"],
  ]) {
    const { url, asked } = await serverOf([{ body: RUNS }], [], GONE);
    expect(await runCli(["run", url, "--session", "s", ...words, "--", "x"])).toEqual({
      ...{ code: 255, signal: null, stdout: "" },
      stderr: "sbx-stdio: the process was lost\n",
    });
    expect(asked.map(({ incarnation }) => incarnation)).toEqual([undefined, "one"]);
  }
});

/** What a start ends with whose first call fails so, and the number of calls. Who asks again gets an answer. */
async function startedAfter(failure: Error | undefined, silenceMs = 30_000) {
  let calls = 0;
  const ask: typeof fetch = async (_, init) => {
    calls += 1;
    if (calls > 1) return Response.json({ ...EXITED });
    if (failure !== undefined) throw failure;
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  };
  const at = sandbox("http://nowhere", { token: "t", retries: 0, fetch: fetchUnlessSilent(silenceMs, ask) });
  const ended = await startOnce(at, { session: "s" }, (only) => at.run({ session: "s", ...only })).catch(
    (error: unknown) => error,
  );
  return { ended, calls };
}
const failed = (code: string, syscall?: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("it failed"), { code, syscall }) });

test("an address that does not answer is given up at once; a connection that broke is not", async () => {
  const unreachable = { ended: { code: "unreachable" }, calls: 1 };
  expect(await startedAfter(failed("UND_ERR_CONNECT_TIMEOUT"))).toMatchObject(unreachable);
  expect(await startedAfter(failed("ETIMEDOUT", "connect"))).toMatchObject(unreachable);
  expect(await startedAfter(failed("ETIMEDOUT", "read"))).toMatchObject({ ended: { state: "exited" }, calls: 3 });
});

test("a server that is silent is asked once", async () => {
  expect(await startedAfter(undefined, 20)).toMatchObject({
    ended: { code: "unreachable", message: expect.stringContaining("no response for") },
    calls: 1,
  });
});

/** A server that starts processes, and then refuses who attaches, as one that restarts. */
async function restartingServer() {
  const server = await startServer();
  onTestFinished(() => server.close());
  server.refusal = { status: 503, body: '{"error":"unavailable","message":"the server restarts"}' };
  return server;
}

test("a process that it has started is attached to when the server is back, however many attempts that takes", async () => {
  const server = await restartingServer();
  const ended = collect(startCli(["run", server.url, "--", "sh", "-c", "echo begun; exit 6"]));
  await until(
    () => server.tokens.length > 3,
    () => `${server.tokens.length} attempts`,
  );
  server.refusal = undefined;
  expect(await ended).toEqual({ code: 6, signal: null, stdout: "begun\n", stderr: "" });
});

test("a wait that is over before the server is back says why, and which session may still be running", async () => {
  const { url } = await restartingServer();
  const words = ["--session", "s", "--wait", "500ms", "--", "sh", "-c", "read x"];
  expect(await runCli(["run", url, ...words])).toEqual({
    ...{ code: 255, signal: null, stdout: "" },
    stderr: "sbx-stdio: the server restarts; session s may still be running\n",
  });
});
