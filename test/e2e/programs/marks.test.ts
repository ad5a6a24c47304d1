// Marks of command boundaries over HTTP (C1, C2), and what quiet tells (T5).
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

type Commands = { readonly commands: readonly Record<string, unknown>[]; readonly next: number };
const programs = async () => new Programs(await person());
const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });
const commandsOf = async (at: Programs, name: string) =>
  (await at.ask<Commands>("GET", `/sessions/${name}/commands`)).body;

test("C1: marks of 133 and 633 that a program prints are known at their offsets, and passed on unchanged", async () => {
  const at = await programs();
  const marked =
    "\x1b]633;P;Cwd=/srv\x07\x1b]133;A\x07$ \x1b]133;B\x07\r\n\x1b]633;E;ls \\x3b x\x07\x1b]133;C\x07out\r\n\x1b]133;D;3\x07";
  const printed = Buffer.from(marked).toString("base64");
  await at.put("s", { ...sh(`stty -opost; printf %s '${printed}' | base64 -d; read a`), tty: true });
  // A program that has printed no mark yet is `no_marks`.
  await at.wait("s", { until: { match: "out" }, from: 0 });
  expect((await at.wait("s", { until: { commandEnd: true }, from: 0 })).body).toMatchObject({
    outcome: "met",
    offset: marked.indexOf("\x1b]133;D"),
    exit: { code: 3 },
  });
  const { commands, next } = await commandsOf(at, "s");
  const from = marked.indexOf("out");
  const to = marked.indexOf("\x1b]133;D");
  const times = { startedAt: expect.any(String), endedAt: expect.any(String) };
  expect([commands, next]).toEqual([[{ line: "ls ; x", cwd: "/srv", from, to, exit: 3, ...times }], marked.length]);
  expect((await at.read("s", { from, to })).body.output).toBe("out\r\n");
  const client = await connect(at.who, { sandbox: at.sandbox, session: "s", offset: 0 });
  await client.until("all of it", () => client.bytes().length === marked.length);
  expect([client.text(), (await at.read("s", { from: 0 })).body.output]).toEqual([marked, marked]);
});

test("C2: a shell over HTTP marks its commands, unless shellIntegration is false", async () => {
  const cmd = "bash";
  const at = await programs();
  await at.put("on", { cmd, tty: true });
  // A shell that is still starting takes what is typed as well.
  await at.ask("POST", "/sessions/on/input", { text: "sh -c 'exit 7'", enter: true });
  const marked = async () => (await commandsOf(at, "on")).commands[0];
  expect(await until("the command's end", async () => (await marked())?.exit !== undefined && marked())).toMatchObject({
    line: "sh -c 'exit 7'",
    exit: 7,
    to: expect.any(Number),
  });
  await at.put("off", { cmd, tty: true, shellIntegration: false });
  await at.ask("POST", "/sessions/off/input", { text: "echo o''k", enter: true });
  expect((await at.wait("off", { until: { match: "^ok", flags: "m" }, from: 0 })).body.outcome).toBe("met");
  expect((await at.read("off", { from: 0 })).body.output).not.toContain("\x1b]633;");
});
