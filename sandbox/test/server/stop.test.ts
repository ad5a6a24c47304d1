// The bridge is told to stop, as a container is: what its clients hear, and how long that may take.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Hop } from "../support/inner-client.ts";

const TOKEN = "a secret of this test only";

type Message = { readonly type: string } & Readonly<Record<string, unknown>>;

let child: ChildProcess | undefined;
let url = "";
const headers = { Authorization: `Bearer ${TOKEN}` };
let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "bridge-stop-"));
  return start();
});

async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
  child?.kill("SIGKILL");
  const entry = join(import.meta.dirname, "../../stdio-ws.ts");
  child = spawn(process.execPath, [entry], {
    env: { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", STDIO_TOKEN: TOKEN, SANDBOX_ROOT: root, ...more },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("The bridge has no stdout");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  url = (JSON.parse(line) as { listening: string }).listening;
}

afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(root, { recursive: true, force: true });
});

/** Runs `script` on pipes. */
function running(script: string): URLSearchParams {
  return new URLSearchParams([
    ["cmd", "bash"],
    ["arg", "-c"],
    ["arg", script],
    ["tty", "0"],
  ]);
}

/** A session object at the session "job", after its first output. @param query What runs there. Absent: what is there. */
async function held(query = new URLSearchParams()): Promise<Hop> {
  query.set("session", "job");
  const hop = await Hop.open(url, TOKEN, query);
  hop.attach();
  await hop.until(() => hop.output !== "");
  return hop;
}

/** A plain client that runs `script`, after its first output. */
async function attach(script: string) {
  const query = running(script);
  const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
    headers,
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

/** Sends the signal. @returns The bridge's exit code. */
async function stop(signal: NodeJS.Signals): Promise<number | null> {
  if (child === undefined) throw new Error("No bridge runs");
  child.kill(signal);
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
}

test.each([
  { signal: "SIGTERM", code: 143 },
  { signal: "SIGINT", code: 130 },
] as const)(
  "on $signal a client is told how its process ended, and the bridge ends with $code",
  async ({ signal, code }) => {
    const client = await attach("echo ready; sleep 60");
    expect(await stop(signal)).toBe(code);
    expect(client.messages.at(-1)).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 6 });
    expect(await client.closed).toBe(1000);
  },
);

test("a process that has something to do before it ends gets the time, and its last words arrive", async () => {
  const client = await attach(
    "exec 2>/dev/null; trap 'sleep 0.5; echo saved; exit 3' HUP; echo ready; while :; do sleep 0.05; done",
  );
  expect(await stop("SIGTERM")).toBe(143);
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
  await stopped;
  expect(client.messages.at(-1)).toEqual({ type: "exit", code: 137, signal: "SIGKILL", offset: 6 });
});

test("a shell that is hung up on as it draws its prompt ends of that, 60 times", async () => {
  for (let i = 0; i < 60; i++) {
    const query = new URLSearchParams([
      ["session", `shell-${i}`],
      ["cmd", "bash"],
      ["arg", "--norc"],
      ["tty", "1"],
    ]);
    const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
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
  expect(await stop("SIGTERM")).toBe(143);
  expect(await client.closed).toBe(1001);
});

describe("with STOP_SECONDS", () => {
  const told = ({ messages }: Hop) => messages.filter(({ type }) => type === "stopping");

  test("X8: on SIGTERM people are told how long there is, a job ends by itself, and then the bridge does", async () => {
    await start({ STOP_SECONDS: "600" });
    const go = join(root, "go");
    const client = await held(running(`echo ready; while [ ! -e ${go} ]; do sleep 0.02; done; echo saved; exit 3`));
    const stopped = stop("SIGTERM");
    await until(() => told(client).length === 1);
    expect(told(client)).toEqual([{ type: "stopping", seconds: 600 }]);
    // Nothing new is started, and what there is can be attached to.
    const refused = await fetch(`${url}/attach?cmd=true`, {
      headers: { ...headers, Upgrade: "websocket", Connection: "Upgrade" },
    });
    expect([refused.status, await refused.json()]).toEqual([
      503,
      {
        error: "stopping",
        message: expect.stringMatching(/^the sandbox stops within (600|599) s: nothing new is started/),
      },
    ]);
    const ordered = await order("new", "true", []);
    expect([ordered.status, ((await ordered.json()) as { error: string }).error]).toEqual([503, "stopping"]);
    const late = await held();
    expect(await client.closed).toBe(4409);
    expect(told(late)).toHaveLength(1);
    writeFileSync(go, "");
    expect(await stopped).toBe(143);
    expect(late.messages.at(-1)).toEqual({ type: "exit", code: 3, offset: 12 });
  });

  test("X8: what still runs when the time is over is ended as ever", async () => {
    await start({ STOP_SECONDS: "1" });
    const client = await attach("echo ready; sleep 600");
    expect(await stop("SIGTERM")).toBe(143);
    expect(client.messages.at(-1)).toEqual({ type: "exit", code: 129, signal: "SIGHUP", offset: 6 });
  });

  test("X8: a bridge without sessions ends at once, and a second SIGTERM ends what runs", async () => {
    await start({ STOP_SECONDS: "600" });
    expect(await stop("SIGTERM")).toBe(143);
    await start({ STOP_SECONDS: "600" });
    const client = await held(running("echo ready; sleep 600"));
    const stopped = stop("SIGTERM");
    await until(() => told(client).length === 1);
    child?.kill("SIGTERM");
    expect(await stopped).toBe(143);
    expect(client.messages.at(-1)).toMatchObject({ type: "exit", signal: "SIGHUP" });
  });

  test("X8: an exit that nobody was here for keeps the bridge until somebody has come for it", async () => {
    await start({ STOP_SECONDS: "600" });
    const go = join(root, "go");
    const ordered = await order("job", "bash", ["-c", `while [ ! -e ${go} ]; do sleep 0.02; done; exit 3`]);
    expect(ordered.status).toBe(201);
    const idle = async () =>
      ((await (await fetch(`${url}/sessions`, { headers })).json()) as { idleMs: number }).idleMs;
    const stopped = stop("SIGTERM");
    writeFileSync(go, "");
    const state = async () =>
      ((await (await fetch(`${url}/sessions`, { headers })).json()) as { sessions: { state: string }[] }).sessions[0]
        ?.state;
    await until(async () => (await state()) === "exited");
    expect(await idle()).toBe(0);
    const socket = new WebSocket(`${url.replace("http", "ws")}/attach?session=job`, {
      headers,
    });
    const exit = await new Promise<unknown>((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        if (typeof data === "string" && (JSON.parse(data) as Message).type === "exit") resolve(JSON.parse(data));
      });
    });
    expect(exit).toEqual({ type: "exit", code: 3, offset: 0 });
    expect(await stopped).toBe(143);
  });
});

/** Orders a process that nobody attaches to. */
function order(session: string, cmd: string, args: string[]): Promise<Response> {
  const rest = { env: [], tty: false, mode: "collaborative", keep: 60, keepExited: 60, stdin: "", isStdinEnded: true };
  const body = JSON.stringify({ label: "x", session, cmd, args, ...rest });
  return fetch(`${url}/sessions`, { method: "POST", headers, body });
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = Date.now() + 20_000; !(await isSo()); ) {
    if (Date.now() > limit) throw new Error("Waited 20 s in vain");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
