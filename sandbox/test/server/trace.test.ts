// What the bridge says of itself: the trace of a session that is asked for, and its log at a level.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";

const TOKEN = "a secret of this test only";
const TYPED = "hunter2";

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

/** The bridge as a process of its own, and what it says on stderr. */
function start(env: Record<string, string>): { child: ChildProcess; said: string[]; url: Promise<string> } {
  const root = mkdtempSync(join(tmpdir(), "bridge-trace-"));
  const entry = join(import.meta.dirname, "../../stdio-ws.ts");
  const own = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", STDIO_TOKEN: TOKEN, SANDBOX_ROOT: root };
  const child = spawn(process.execPath, [entry], { env: { ...own, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  cleanUps.push(() => {
    child.kill("SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("The bridge has no stdout and stderr");
  const said: string[] = [];
  createInterface(stderr).on("line", (line) => said.push(line));
  const url = once(createInterface(stdout), "line").then(
    ([line]) => (JSON.parse(String(line)) as { listening: string }).listening,
  );
  return { child, said, url };
}

/** Types a line at `head -c 8`, which repeats it and ends. */
async function session(url: string, name: string): Promise<void> {
  const query = new URLSearchParams({ session: name, cmd: "head", tty: "0" });
  for (const arg of ["-c", "8"]) query.append("arg", arg);
  const socket = new WebSocket(`${url.replace("http", "ws")}/attach?${query}`, {
    headers: { Authorization: `Bearer ${TOKEN}` },
  });
  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string" || !data.includes('"hello"')) return;
    socket.send(new TextEncoder().encode(`${TYPED}\n`));
  });
  await new Promise((resolve) => socket.addEventListener("close", resolve));
}

/** Stops the bridge. @returns All that it has said. */
async function linesOf({ child, said }: ReturnType<typeof start>): Promise<string[]> {
  child.kill("SIGTERM");
  await once(child, "close");
  return said;
}

test("STDIO_TRACE=SESSION: its trace says what came, was decided and was told, and no content", async () => {
  const bridge = start({ STDIO_TRACE: "work" });
  const url = await bridge.url;
  await Promise.all([session(url, "work"), session(url, "other")]);
  const lines = await linesOf(bridge);
  expect(lines.filter((line) => !/^trace \d\d:\d\d:\d\d\.\d{3} default\/work bridge /.test(line))).toEqual([]);
  const words = lines.map((line) => line.replace(/^trace \S+ \S+ bridge /, ""));
  const expected = [
    /^opens #\d+ plain role=driver$/,
    /^decides attach client=\w+ name="" role=driver delivery=lossless acked=0 received=0$/,
    /^tells #\d+ hello .*offset=0 live=0 stdin=0 resume=… window=65536 .*you=\w+/,
    /^hears #\d+ stdin 8 B$/,
    /^decides take what=bytes client=\w+ from=0 to=8$/,
    /^tells #\d+ stdout 8 B$/,
    /^ended: \{"code":0\}, the log ends at 8$/,
    /^tells #\d+ exit code=0 offset=8$/,
    /^#\d+ has closed with 1000$/,
  ];
  // In this order, whatever else is said between.
  let at = -1;
  const missing = expected.filter((line) => {
    const next = words.findIndex((word, i) => i > at && line.test(word));
    if (next >= 0) at = next;
    return next < 0;
  });
  expect({ missing, words: missing.length === 0 ? [] : words }).toEqual({ missing: [], words: [] });
  expect(lines.filter((line) => line.includes(TYPED) || line.includes(TOKEN))).toEqual([]);
});

test("without STDIO_TRACE nothing is traced, and nothing is said of sessions that go well", async () => {
  const bridge = start({});
  await session(await bridge.url, "work");
  expect(await linesOf(bridge)).toEqual([]);
});

test("LOG_LEVEL=info says when sessions start and end", async () => {
  const bridge = start({ LOG_LEVEL: "info" });
  await session(await bridge.url, "work");
  expect(await linesOf(bridge)).toEqual(["session default/work started", "session default/work ended: code 0"]);
});

test("another LOG_LEVEL is refused at the start, with the ones that there are", async () => {
  const { child, said } = start({ LOG_LEVEL: "loud" });
  const [code] = await once(child, "close");
  expect([code, said]).toEqual([2, ["stdio-ws: LOG_LEVEL must be one of error, warn, info, debug"]]);
});
