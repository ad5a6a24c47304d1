// The bridge is told to stop, as a container is: what its clients hear, and how long that may take.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, test } from "vitest";

const TOKEN = "a secret of this test only";

type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

let child: ChildProcess;
let url = "";
let root = "";

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "bridge-stop-"));
  const entry = join(import.meta.dirname, "../stdio-ws.ts");
  child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", STDIO_TOKEN: TOKEN, SANDBOX_ROOT: root },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("The bridge has no stdout");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  url = (JSON.parse(line) as { listening: string }).listening;
});

afterEach(() => {
  child.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/** Runs `script` on pipes and waits for its first output. */
async function attach(script: string) {
  const query = new URLSearchParams([
    ["cmd", "bash"],
    ["arg", "-c"],
    ["arg", script],
    ["tty", "0"],
  ]);
  const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
    protocols: ["stdio.v1"],
    headers: { Authorization: `Bearer ${TOKEN}` },
  });
  const messages: Message[] = [];
  const output = new Promise<string>((resolve) => {
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") messages.push(JSON.parse(data) as Message);
      else void new Response(data).bytes().then((bytes) => resolve(Buffer.from(bytes.subarray(1)).toString()));
    });
  });
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  return { messages, closed, output: await output };
}

/** Sends the signal. @returns How the bridge ended, and after how many milliseconds. */
async function stop(signal: NodeJS.Signals) {
  const from = performance.now();
  child.kill(signal);
  const [code] = (await once(child, "exit")) as [number | null];
  return { code, ms: performance.now() - from };
}

test.each([
  { signal: "SIGTERM", code: 143 },
  { signal: "SIGINT", code: 130 },
] as const)(
  "on $signal a client is told how its process ended, and the bridge ends with $code",
  async ({ signal, code }) => {
    const client = await attach("echo ready; sleep 60");
    const stopped = await stop(signal);
    expect(stopped.code).toBe(code);
    expect(stopped.ms).toBeLessThan(1_000);
    expect(client.messages.at(-1)).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 6 });
    expect(await client.closed).toBe(1000);
  },
);

test("a process that has something to do before it ends gets the time, and its last words arrive", async () => {
  const client = await attach(
    "exec 2>/dev/null; trap 'sleep 0.5; echo saved; exit 3' HUP; echo ready; while :; do sleep 0.05; done",
  );
  expect((await stop("SIGTERM")).code).toBe(143);
  expect(client.messages.at(-1)).toEqual({ type: "exit", code: 3, offset: 12 });
});

test("a process that ignores SIGHUP and SIGTERM is killed, and nothing is started meanwhile", async () => {
  const client = await attach("exec 2>/dev/null; trap '' HUP TERM; echo ready; while :; do sleep 0.05; done");
  const stopped = stop("SIGTERM");
  let answer: Response;
  do answer = await fetch(`${url}/sessions`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  while (answer.status === 200);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toEqual({ error: "unavailable", message: "the bridge is shutting down" });
  expect((await stopped).ms).toBeLessThan(4_000);
  expect(client.messages.at(-1)).toEqual({ type: "exit", code: 137, signal: "SIGKILL", offset: 6 });
});

test("a shell that is hung up on as it draws its prompt ends of that, 60 times", async () => {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  for (let i = 0; i < 60; i++) {
    const query = new URLSearchParams([
      ["session", `shell-${i}`],
      ["cmd", "bash"],
      ["arg", "--norc"],
      ["tty", "1"],
    ]);
    const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
      protocols: ["stdio.v1"],
      headers,
    });
    const ended: Promise<Response>[] = [];
    const exit = await new Promise<unknown>((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        if (typeof data !== "string") ended.push(fetch(`${url}/sessions/shell-${i}`, { method: "DELETE", headers }));
        else if ((JSON.parse(data) as Message).type === "exit") resolve(JSON.parse(data));
      });
    });
    expect(exit).toMatchObject({ code: 129, signal: "SIGHUP" });
    // Not left to themselves: the bridge is killed after the test, under whatever is still asked of it.
    await Promise.all(ended);
  }
});

test("output that goes on for ever after the process does not keep the bridge", async () => {
  const writer = "while echo x; do sleep 0.1; done";
  const client = await attach(`setsid bash -c '${writer}' & sleep 60`);
  const stopped = await stop("SIGTERM");
  expect(stopped.code).toBe(143);
  expect(stopped.ms).toBeLessThan(6_000);
  expect(client.messages.at(-1)).toMatchObject({ type: "bye", code: 1001, retry: "after" });
  expect(await client.closed).toBe(1001);
});
