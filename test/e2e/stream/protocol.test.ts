// The protocol on the outer hop, from a greeting to an exit: one client, one process.
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { person } from "../support/system/system.ts";

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
  const you = { id, name: "Alice of Accounts", role: "driver", kind: "person", person: "Alice of Accounts" };
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
    you,
    answerer: { id, offset: 0 },
    holder: "",
    mode: "collaborative",
    creator: true,
    participants: [you],
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

test("a resize reaches the PTY and its program, and is told in the place where it happened", async () => {
  const client = await connect(await person(), { cmd: "sh", arg: SIZES, tty: 1, cols: 90, rows: 20 });
  await client.output("20 90\r\n");
  client.say({ type: "resize", cols: 120, rows: 40 });
  await client.output("40 120\r\n");
  expect(client.text()).toBe("20 90\r\n40 120\r\n");
  expect(client.messages("resize")).toEqual([{ type: "resize", cols: 120, rows: 40, offset: 7 }]);
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

test("kill ends what ignores SIGHUP and SIGTERM", async () => {
  const client = await connect(await person(), sh("trap '' HUP TERM; echo ready; while :; do sleep 0.5; done"));
  await client.output("ready\n");
  client.say({ type: "kill" });
  expect((await client.end()).exit).toEqual({ type: "exit", code: 137, signal: "SIGKILL", offset: 6 });
});

test("cmd and args are given to no shell, env and cwd to the process, no TERM where there is no terminal", async () => {
  const arg = ["-c", 'printf "%s|" "$0" "$@" "$PWD" "$A" "$TERM" "$COLORTERM" "$LANG"', "$(id) `id` ; id", "", "ü 😀"];
  const client = await connect(await person(), { cmd: "sh", arg, env: ["A=b=c d", "LANG=C.UTF-8"], cwd: "/usr" });
  await client.end();
  expect(client.text(1)).toBe("$(id) `id` ; id||ü 😀|/usr|b=c d|||C.UTF-8|");
});

test("arguments that take nearly 14 KiB in a URL reach the process whole, beyond ASCII too", async () => {
  const long = "ü😀".repeat(600);
  const client = await connect(await person(), { cmd: "printf", arg: ["%s|", long, "x".repeat(3_400)] });
  await client.end();
  expect(client.text(1)).toBe(`${long}|${"x".repeat(3_400)}|`);
});
