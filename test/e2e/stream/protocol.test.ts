// The protocol on the outer hop, from a greeting to an exit: one client, one process.
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { processesIn } from "../support/clients/sandbox-processes.ts";
import { fresh, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ID = /^[A-Za-z0-9_-]{1,128}$/;
/** A shell on a PTY that prints its size whenever that changes. */
const SIZES = ["-c", "trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done"];

const sh = (script: string) => ({ cmd: "sh", arg: ["-c", script] });

test("hello comes before the first binary frame, once, with every field of the contract", async () => {
  const alice = await person({ name: "Alice of Accounts" });
  const client = await connect(alice, {
    sandbox: "dev",
    session: "build",
    ...sh("printf one; cat"),
    tty: 1,
    cols: 100,
    rows: 30,
  });
  await client.output("one");
  client.type("x\n");
  await client.output("x\r\nx\r\n");

  const hello = await client.hello();
  const kinds = client.received.map((one) => (one.kind === "output" ? "binary" : one.message.type));
  expect(kinds.indexOf("hello")).toBeLessThan(kinds.indexOf("binary"));
  expect(client.messages("hello")).toHaveLength(1);
  const id = (hello.you as { id: string }).id;
  expect(id).toMatch(ID);
  expect(hello).toEqual({
    type: "hello",
    protocol: "stdio.v1",
    sandbox: "dev",
    session: "build",
    incarnation: expect.stringMatching(UUID),
    tty: true,
    cols: 100,
    rows: 30,
    offset: 0,
    live: expect.toSatisfy((live) => live === 0 || live === 3), // "one" may have been printed by then.
    stdin: 0,
    resume: expect.stringMatching(/^[\w-]+\.[\w-]+$/),
    window: 524_288,
    delivery: "live",
    you: { id, name: "Alice of Accounts", role: "driver", kind: "person" },
    answerer: { id, offset: 0 },
    holder: "",
    mode: "collaborative",
    creator: true,
    participants: [{ id, name: "Alice of Accounts", role: "driver", kind: "person" }],
  });
});

test("a command gets pipes and lossless delivery unless it asks for a PTY, a shell a PTY of 80 by 24", async () => {
  const alice = await person();
  const onPipes = await connect(alice, { cmd: "cat" });
  const shell = await connect(alice, {});
  const [pipes, pty] = [await onPipes.hello(), await shell.hello()];
  expect([pipes.tty, pipes.delivery, pipes.sandbox]).toEqual([false, "lossless", "default"]);
  expect([pty.tty, pty.delivery, pty.cols, pty.rows]).toEqual([true, "live", 80, 24]);
  // A session that nobody named is a fresh one.
  expect(pipes.session).toMatch(ID);
  expect(pipes.session).not.toBe(pty.session);
});

test("stdout and stderr stay apart, and exit comes after the last byte, then close 1000", async () => {
  const client = await connect(await person(), sh("printf out; printf err >&2; printf more; exit 7"));
  const { exit, bye, code } = await client.end();
  expect(client.text(1)).toBe("outmore");
  expect(client.text(2)).toBe("err");
  expect(exit).toEqual({ type: "exit", code: 7, offset: 10 });
  expect([bye, code]).toEqual([undefined, 1000]);
  // A pong is the runtime's own, whenever it comes.
  const said = client.received.map((one) => (one.kind === "control" ? one.message.type : "binary"));
  expect(said.filter((type) => type !== "pong").at(-1)).toBe("exit");
});

test("100,000 bytes written just before the exit all come before it", async () => {
  const client = await connect(await person(), sh("head -c 100000 /dev/zero"));
  const { exit } = await client.end();
  expect(exit).toEqual({ type: "exit", code: 0, offset: 100_000 });
  expect(client.bytes(1)).toEqual(Buffer.alloc(100_000));
});

test.each([
  ["kill -9 $$", { code: 137, signal: "SIGKILL" }],
  ["kill -TERM $$", { code: 143, signal: "SIGTERM" }],
  ["exit 255", { code: 255 }],
])("the exit of `%s` tells its code and signal", async (script, status) => {
  const client = await connect(await person(), sh(script));
  expect((await client.end()).exit).toEqual({ type: "exit", ...status, offset: 0 });
});

test("a resize reaches the PTY and its program, and is told in the place where it happened", async () => {
  const client = await connect(await person(), { cmd: "sh", arg: SIZES, tty: 1, cols: 90, rows: 20 });
  await client.output("20 90\r\n");
  client.say({ type: "resize", cols: 120, rows: 40 });
  await client.output("40 120\r\n");
  expect(client.text()).toBe("20 90\r\n40 120\r\n");
  expect(client.messages("resize")).toEqual([{ type: "resize", cols: 120, rows: 40, offset: 7 }]);
});

test.each([
  [0, 24],
  [80, 0],
  [-1, 24],
  [1001, 24],
  [80, 501],
  [80.5, 24],
])("a resize to %d by %d is answered bad_size and changes nothing", async (cols, rows) => {
  const client = await connect(await person(), { cmd: "sh", arg: SIZES, tty: 1, cols: 90, rows: 20 });
  await client.output("20 90\r\n");
  client.say({ type: "resize", cols, rows });
  expect(await client.message("error")).toEqual({
    type: "error",
    code: "bad_size",
    message: `Cannot resize to ${cols} by ${rows}: from 1 by 1 to 1000 by 500`,
  });
  client.say({ type: "resize", cols: 1000, rows: 500 });
  await client.output("500 1000\r\n");
  expect(client.text()).toBe("20 90\r\n500 1000\r\n");
});

test("a signal goes to the foreground process group, not to the shell", async () => {
  const who = await person();
  const client = await connect(who, { cmd: "bash", arg: ["--norc", "--noprofile", "-i"], tty: 1 });
  await client.hello();
  client.type("echo pid=$$.\n");
  const shell = Number(/pid=(\d+)\./.exec(await client.output(/pid=\d+\./))?.[1]);
  client.type("sleep 1000\n");
  const foreground = async () => {
    const all = await processesIn(who);
    const group = all.find(({ pid }) => pid === shell)?.foreground;
    return { group, names: all.filter((facts) => facts.group === group).map(({ name }) => name) };
  };
  await until("sleep in the foreground", async () => (await foreground()).names.join() === "sleep");
  client.say({ type: "signal", signal: "SIGINT" });
  client.type("echo status=$?.\n");
  await client.output("status=130.");
  expect((await foreground()).group).toBe(shell);
});

test("a signal overtakes queued input, and on pipes reaches the program's group", async () => {
  const client = await connect(
    await person(),
    sh("trap 'echo caught; exit 3' USR1; echo ready; while :; do sleep 0.05; done"),
  );
  await client.output("ready\n");
  client.type("never read\n");
  client.say({ type: "signal", signal: "SIGUSR1" });
  const { exit } = await client.end();
  expect(client.text(1)).toBe("ready\ncaught\n");
  expect(exit).toEqual({ type: "exit", code: 3, offset: client.offset });
});

test("eof ends the input of a program on pipes, after all that was sent before", async () => {
  const client = await connect(await person(), sh("cat; echo end"));
  await client.hello();
  client.type("abc");
  client.say({ type: "eof" });
  const { exit } = await client.end();
  expect(client.text(1)).toBe("abcend\n");
  expect(exit).toEqual({ type: "exit", code: 0, offset: 7 });
});

test("an eof with an offset is applied once, however often it is said", async () => {
  const client = await connect(await person(), { cmd: "cat", tty: 1 });
  await client.hello();
  client.type("abc\n");
  await client.output("abc\r\nabc\r\n");
  for (let i = 0; i < 3; i += 1) client.say({ type: "eof", offset: 4 });
  expect((await client.end()).exit).toEqual({ type: "exit", code: 0, offset: 10 });
});

test("on a PTY eof types the end-of-file character that the program has set", async () => {
  const client = await connect(await person(), { ...sh("stty eof ^X; echo ready; cat; echo end"), tty: 1 });
  await client.output("ready\r\n");
  client.say({ type: "eof" });
  await client.end();
  expect(client.text()).toBe("ready\r\nend\r\n");
});

test("stdin_ack tells how much of the input has been written to the process", async () => {
  const client = await connect(await person(), { cmd: "cat" });
  await client.hello();
  client.type("abc");
  await client.until("stdin_ack of 3", () => client.messages("stdin_ack").some(({ offset }) => offset === 3));
  client.type(Buffer.alloc(60_000, "x"));
  await client.until("stdin_ack of 60003", () => client.messages("stdin_ack").some(({ offset }) => offset === 60_003));
  const offsets = client.messages("stdin_ack").map(({ offset }) => Number(offset));
  expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b));
});

test("input that the process has not read is not acknowledged beyond what its pipe holds", async () => {
  const client = await connect(await person(), sh("echo ready; sleep 1000"));
  await client.output("ready\n");
  for (let i = 0; i < 4; i += 1) client.type(Buffer.alloc(50_000, "x"));
  const acked = () => Math.max(0, ...client.messages("stdin_ack").map(({ offset }) => Number(offset)));
  await client.until("stdin_ack of more than one frame", () => acked() > 50_000);
  client.say({ type: "ping" });
  await client.message("pong", 1);
  // A Linux pipe holds 64 KiB.
  expect(acked()).toBeLessThanOrEqual(65_536);
});

test("an ack beyond what was sent closes with 1008", async () => {
  const client = await connect(await person(), { cmd: "cat" });
  await client.hello();
  client.say({ type: "ack", offset: 1 });
  expect(await client.end()).toEqual({
    exit: undefined,
    bye: { type: "bye", code: 1008, reason: "ack of 1 is beyond what was sent, 0", retry: "never" },
    code: 1008,
    reason: "ack of 1 is beyond what was sent, 0",
  });
});

test("without acks output stops at the window, which hello names as the most", async () => {
  const client = await connect(await person(), sh("cat /dev/zero"), { acks: false });
  const { window } = await client.hello();
  await client.until("the first window", () => client.bytes().length >= 16 * 1024);
  client.say({ type: "ping" });
  await client.message("pong", 1);
  const first = client.bytes().length;
  expect(first).toBeLessThanOrEqual(Number(window));
  client.say({ type: "ack", offset: first });
  await client.until("more output", () => client.bytes().length > first);
});

test("a ping is answered by the exact text of pong, spaces in it or not", async () => {
  const client = await connect(await person(), { cmd: "cat" }, { pings: false });
  await client.hello();
  client.socket.send('{"type":"ping"}');
  await client.message("pong");
  client.socket.send('{ "type": "ping" }');
  await client.message("pong", 1);
  const pongs = client.received.flatMap((one) =>
    one.kind === "control" && one.message.type === "pong" ? [one.text] : [],
  );
  expect(pongs).toEqual(['{"type":"pong"}', '{"type":"pong"}']);
});

test.each([
  ["sleep 1000", { code: 129, signal: "SIGHUP" }],
  ["trap '' HUP; while :; do sleep 0.05; done", { code: 143, signal: "SIGTERM" }],
  ["trap '' HUP TERM; while :; do sleep 0.05; done", { code: 137, signal: "SIGKILL" }],
])("kill ends `%s`", async (script, status) => {
  const client = await connect(await person(), sh(`echo ready; ${script}`));
  await client.output("ready\n");
  client.say({ type: "kill" });
  expect((await client.end()).exit).toEqual({ type: "exit", ...status, offset: 6 });
});

test("cmd and args are given to no shell, env and cwd to the process, no TERM where there is no terminal", async () => {
  const arg = ["-c", 'printf "%s|" "$0" "$@" "$PWD" "$A" "$TERM" "$COLORTERM" "$LANG"', "$(id) `id` ; id", "", "ü 😀"];
  const client = await connect(await person(), { cmd: "sh", arg, env: ["A=b=c d", "LANG=C.UTF-8"], cwd: "/usr" });
  await client.end();
  expect(client.text(1)).toBe("$(id) `id` ; id||ü 😀|/usr|b=c d|||C.UTF-8|");
});

test("a session's name is the client's, up to 64 characters", async () => {
  const session = fresh("n").padEnd(64, "x");
  const client = await connect(await person(), { session, cmd: "true" });
  expect((await client.hello()).session).toBe(session);
});

test("arguments that take nearly 14 KiB in a URL reach the process whole, beyond ASCII too", async () => {
  const long = "ü😀".repeat(600);
  const client = await connect(await person(), { cmd: "printf", arg: ["%s|", long, "x".repeat(3_400)] });
  await client.end();
  expect(client.text(1)).toBe(`${long}|${"x".repeat(3_400)}|`);
});
