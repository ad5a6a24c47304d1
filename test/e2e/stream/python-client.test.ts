// examples/python-client: a second implementation of the protocol, written from its page, against the real system.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { connect } from "../support/clients/client.ts";
import { cutRelay, fresh, type Person, person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const SANDBOX = "dev";
const CLIENT = join(ROOT, "examples/python-client/sbx_stdio.py");

function start(who: Person, query: Record<string, string>, command: readonly string[]): ChildProcessWithoutNullStreams {
  const url = `${system.relayOrigin}/attach?${new URLSearchParams({ sandbox: SANDBOX, ...query })}`;
  return spawn("python3", [CLIENT, url, ...(command.length > 0 ? ["--", ...command] : [])], {
    env: { ...process.env, SBX_TOKEN: who.token },
  });
}

const exitOf = (child: ChildProcessWithoutNullStreams): Promise<number | string | null> =>
  new Promise((resolve) => child.on("exit", (code, signal) => resolve(signal ?? code)));

/** What it wrote, and its exit code. */
async function outcome(child: ChildProcessWithoutNullStreams) {
  const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
  return { stdout, stderr, exit };
}

test("the Python client has the process's own stdout, stderr, end of input and exit code", async () => {
  const child = start(await person(), {}, ["sh", "-c", "cat; echo no >&2; exit 7"]);
  child.stdin.end("typed\n");
  expect(await outcome(child)).toEqual({ stdout: "typed\n", stderr: "no\n", exit: 7 });
});

test("R1, I5: the Python client's connection is cut again and again, and each byte comes once both ways", async () => {
  const child = start(await person(), {}, ["cat"]);
  const done = outcome(child);
  let heard = 0;
  child.stdout.on("data", (bytes: Uint8Array) => {
    heard += bytes.length;
  });
  const lines = Array.from({ length: 40 }, (_, i) => `${i} ${"x".repeat(9_000)}\n`);
  for (const [i, line] of lines.entries()) {
    child.stdin.write(line);
    if (i % 4 !== 3) continue;
    const before = heard;
    await cutRelay();
    await until("more output", () => heard > before);
  }
  child.stdin.end();
  expect(await done).toEqual({ stdout: lines.join(""), stderr: "", exit: 0 });
});

test("W12, X1: nobody reads the Python client's output for a while, its connection is cut, and nothing is lost", async () => {
  const child = start(await person(), {}, ["sh", "-c", "seq 1000000 1299999; kill -9 $$"]);
  await once(child.stdout, "readable");
  await cutRelay();
  await cutRelay();
  const { stdout, exit } = await outcome(child);
  expect(stdout.split("\n").slice(0, -1)).toEqual(Array.from({ length: 300_000 }, (_, i) => String(1_000_000 + i)));
  expect(exit).toBe(137);
});

test("C6: a signal to the Python client is the process's, and input that it takes no more is refused", async () => {
  const script = "exec <&-; trap 'echo got it; exit 3' INT; echo ready; while :; do sleep 0.05; done";
  const child = start(await person(), {}, ["sh", "-c", script]);
  const done = outcome(child);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdin.write("nobody reads this\n");
  child.kill("SIGINT");
  expect(await done).toMatchObject({ stdout: "ready\ngot it\n", exit: 3 });
});

test("A7, A11: the Python client says why it was refused, and ends with 255", async () => {
  const who = await person();
  const missing = outcome(start(who, {}, ["no-such-program"]));
  expect(await missing).toMatchObject({ exit: 255, stderr: expect.stringContaining("cmd_not_found") });
  const stranger = outcome(start({ ...who, token: "wrong" }, {}, ["true"]));
  expect(await stranger).toMatchObject({ exit: 255, stderr: expect.stringContaining("4401") });
});

test("A9: on a PTY the Python client draws the screen as it is, and goes on from there", async () => {
  const who = await person();
  const session = fresh("s");
  const script = "seq 40000; echo top; read x; echo bye";
  const first = await connect(who, { sandbox: SANDBOX, session, tty: 1, cmd: "sh", arg: ["-c", script] });
  await first.output(/top\r\n/);
  const child = start(who, { session }, []);
  const done = outcome(child);
  await new Promise((resolve) => child.stdout.once("data", resolve));
  first.type("\r");
  const { stdout, exit } = await done;
  expect(exit).toBe(0);
  expect(stdout.length).toBeLessThan(100_000);
  expect(stdout).toMatch(/39999[\s\S]*40000[\s\S]*top[\s\S]*bye\r\n$/);
  first.drop();
});

test("I2, R5: the Python client sends from hello.stdin on, though an earlier connection's last bytes are settled meanwhile", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => "stdio.v1" });
  const heard: string[] = [];
  const hello = (stdin: number) => ({
    ...{ type: "hello", session: "s", resume: "r", offset: 0, stdin, tty: false, mode: "collaborative", holder: "" },
    ...{ delivery: "lossless", you: { id: "c", role: "driver" }, participants: [] },
  });
  const whole = new Promise<void>((resolve) => {
    server.on("connection", (socket, { socket: tcp }) => {
      const say = (message: object) => socket.send(JSON.stringify(message));
      const connection = heard.push("") - 1;
      // Both messages are read at once.
      tcp.cork();
      say(hello(0));
      // The first connection's bytes come late: the second is greeted before they are counted.
      if (connection === 1) say({ type: "stdin_ack", offset: 4 });
      tcp.uncork();
      socket.on("message", (data, isBinary) => {
        if (!isBinary) return;
        heard[connection] += String(data);
        if (connection === 0) socket.close(1012);
        else if (heard[1]?.length === 6) resolve();
      });
    });
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const child = spawn("python3", [CLIENT, `ws://127.0.0.1:${port}/attach`, "--", "cat"], {
    env: { ...process.env, SBX_TOKEN: "t" },
  });
  try {
    child.stdin.write("abcd");
    await until("a second connection", () => heard.length === 2);
    child.stdin.write("ef");
    await whole;
    expect(heard).toEqual(["abcd", "abcdef"]);
  } finally {
    child.kill("SIGKILL");
    server.close();
    for (const socket of server.clients) socket.terminate();
  }
});
