// A program asks for a person (K11 to K14): over HTTP and MCP, with people on the real client, and a secret that is nowhere after it.
import { spawnSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { readTextIfPresent } from "../../../packages/local/src/base/files.ts";
import { auditorOf, recordsAt } from "../support/clients/audit.ts";
import { CLI, cliEnv, runCli } from "../support/clients/cli.ts";
import { connect } from "../support/clients/client.ts";
import { callTool, closeClients, mcpClient, refusalOf, toolBody } from "../support/clients/mcp.ts";
import { Programs } from "../support/clients/programs.ts";
import { Tmux } from "../support/clients/tmux.ts";
import { fresh, person, restartWorker, system } from "../support/system/system.ts";

const terminals: Tmux[] = [];
afterEach(async () => {
  for (const terminal of terminals.splice(0)) terminal.close();
  await closeClients();
});

/** As sudo does: asks for a password with echo off, and goes on in the same shell. */
const SUDO_LIKE =
  'printf "[sudo] password: "; IFS= read -rs P; echo; echo "length $(printf %s "$P" | wc -c)"; read -r line; echo "got $line"';
const shell = (script: string) => ({ cmd: "bash", args: ["-c", script], tty: true });
const ask = (more: object = {}) => ({ do: "ask", reason: "the password of sudo", ...more });

async function started(script: string, prompt: string) {
  const at = new Programs(await person());
  await at.put("s", shell(script));
  expect((await at.wait("s", { until: { text: prompt }, from: 0 })).body.outcome).toBe("met");
  const keyboard = (body: object) => at.ask<{ ask: string; error: string }>("POST", "/sessions/s/keyboard", body);
  return { at, keyboard };
}

/** Every file below a folder that holds these bytes; not below what another test has mounted there. */
function holding(folder: string, secret: string): string[] {
  // Files of a database come and go meanwhile, of which find complains.
  const { stdout } = spawnSync("find", [folder, "-xdev", "-type", "f", "-print0"], { encoding: "utf8" });
  return stdout.split("\0").filter((file) => file !== "" && readTextIfPresent(file)?.includes(secret) === true);
}

test("K13: an agent asks by MCP, a person types the secret with the command line, and it stands nowhere", async () => {
  const secret = `hunter2-${fresh("x")}`;
  const { at } = await started(SUDO_LIKE, "[sudo] password: ");
  const { sandbox } = at;
  const agent = await mcpClient(at.who, "/mcp", "auto");
  const terminal = new Tmux(100, 30, { ...cliEnv(at.who), SBX: `${process.execPath} ${CLI} ${system.origin}` });
  terminals.push(terminal);
  await terminal.shows(/^local\$$/);
  terminal.type(`clear; $SBX --sandbox ${sandbox} --session s`, "Enter");
  await terminal.shows(/^\[sudo\] password:/);
  const asked = await toolBody(agent, "keyboard", { sandbox, session: "s", ...ask({ secret: true }) });
  await terminal.shows(/asks for you: the password of sudo \(Ctrl\+\^ a takes the keyboard/);
  for (const tool of ["read", "screen"]) {
    expect(refusalOf(await callTool(agent, tool, { sandbox, session: "s" }))).toMatchObject({ error: "secret_entry" });
  }
  terminal.type("", "C-^", "a");
  await terminal.shows(
    /the keyboard is yours until Ctrl\+\^ r; only the length of what you type is recorded(, but t\s*he terminal shows it)?$/m,
  );
  terminal.type(secret, "Enter");
  await terminal.shows(new RegExp(`^length ${secret.length}$`));
  expect(refusalOf(await callTool(agent, "write", { sandbox, session: "s", text: "no" }))).toMatchObject({
    error: "not_stdin_holder",
  });
  const waited = toolBody(agent, "wait", { sandbox, session: "s", until: { ask: asked.ask } });
  terminal.type("", "C-^", "r");
  expect(await waited).toMatchObject({ outcome: "met", answer: "done" });
  // The agent goes on in the same shell.
  await toolBody(agent, "write", { sandbox, session: "s", text: "on", enter: true });
  await terminal.shows(/^got on$/);
  const texts = [
    JSON.stringify((await at.read("s", { from: 0 })).body),
    JSON.stringify((await at.ask("GET", "/sessions/s/screen?scrollback=100")).body),
    JSON.stringify((await at.ask("GET", "/sessions/s/commands")).body),
  ];
  const url = `${system.origin}${at.path("/sessions/s/audit")}`;
  const records = await recordsAt(url, (await auditorOf(at.who)).token);
  expect([...texts, JSON.stringify(records)].filter((text) => text.includes(secret))).toEqual([]);
  expect(records.filter(({ type }) => type === "ask").map(({ event, reason }) => [event, reason])).toEqual([
    ["asked", "the password of sudo"],
    ["taken", undefined],
    ["done", undefined],
  ]);
  const typed = records.filter(({ type, secret: isSecret }) => type === "input" && isSecret === true);
  expect(typed.reduce((sum, { length }) => sum + Number(length), 0)).toBe(secret.length + 1);
  await restartWorker(); // All of it is on the disk then.
  expect(holding(system.dir, secret)).toEqual([]);
  expect(holding(system.dir, "the password of sudo").length).toBeGreaterThan(0);
});

test("K11: reads, screens, waits and runs of the asker are refused during a secret, and go on after it", async () => {
  const { at, keyboard } = await started('read -rs -p "Password: "; echo "thanks"; exec sleep 600', "Password: ");
  const other = new Programs(await person({ org: at.who.org }), at.sandbox);
  const who = await person({ org: at.who.org });
  const client = await connect(who, { sandbox: at.sandbox, session: "s" });
  await client.hello();
  const waiting = at.wait("s", { until: { text: "thanks" }, from: 0 });
  const { body } = await keyboard(ask({ secret: true, writer: "w" }));
  expect(await client.message("ask")).toEqual({
    ...{ type: "ask", id: body.ask, writer: "w", reason: "the password of sudo", secret: true },
  });
  const refused = { status: 409, body: { error: "secret_entry" } };
  expect(await waiting).toMatchObject(refused);
  expect(await at.read("s")).toMatchObject(refused);
  expect(await at.ask("GET", "/sessions/s/screen")).toMatchObject(refused);
  expect(await at.wait("s", { until: { exit: true } })).toMatchObject(refused);
  expect(
    await at.run({ session: "s", ...shell('read -rs -p "Password: "; echo "thanks"; exec sleep 600') }),
  ).toMatchObject(refused);
  expect(await other.read("s")).toMatchObject({ status: 200 });
  const timeout = await at.wait("s", { until: { ask: body.ask }, timeoutMs: 1 });
  expect(timeout.body).toMatchObject({ outcome: "timeout", output: "" });
  // It is stored: another life of the object goes on with it, and tells those who come.
  await restartWorker();
  const later = await connect(who, { sandbox: at.sandbox, session: "s" });
  expect(await later.message("ask")).toMatchObject({ id: body.ask });
  const answered = at.wait("s", { until: { ask: body.ask } });
  later.say({ type: "take_ask", id: body.ask });
  expect(await later.message("secret")).toEqual({ type: "secret", on: true });
  expect(later.messages("ask_state")).toEqual([{ type: "ask_state", id: body.ask, by: expect.any(String) }]);
  later.type("geheim\r");
  await later.output("thanks");
  later.say({ type: "release_stdin" });
  expect((await answered).body).toMatchObject({ outcome: "met", answer: "done" });
  expect((await at.read("s", { from: 0 })).body.output).toContain("thanks");
  expect((await at.wait("s", { until: { ask: body.ask } })).body).toMatchObject({ answer: "done" });
});

test("K11: an ask without a reason, a second one, an unknown one, and others are refused with words", async () => {
  const { at, keyboard } = await started("echo ready; exec cat", "ready");
  expect(await keyboard({ do: "ask" })).toMatchObject({ status: 400 });
  expect(await keyboard({ do: "request", reason: "x" })).toMatchObject({ status: 400 });
  expect(await keyboard(ask({ reason: "x".repeat(201) }))).toMatchObject({ status: 400 });
  const first = await keyboard(ask());
  expect(first).toMatchObject({ status: 200, body: { ask: expect.any(String), holder: "" } });
  expect(Object.keys(first.body).sort()).toEqual(["ask", "holder"]);
  expect(await keyboard(ask())).toMatchObject({ status: 409, body: { error: "ask_open" } });
  expect(await keyboard(ask({ writer: "other" }))).toMatchObject({ status: 200 });
  expect(await at.wait("s", { until: { ask: "none" } })).toMatchObject({ status: 404, body: { error: "no_such_ask" } });
  const client = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await client.message("ask", 1);
  for (let i = 0; i < 10; i += 1) {
    const id = i === 0 ? first.body.ask : (await keyboard(ask())).body.ask;
    client.say({ type: "decline_ask", id });
    expect((await at.wait("s", { until: { ask: id } })).body).toMatchObject({ outcome: "met", answer: "declined" });
  }
  const eleventh = await keyboard(ask());
  expect([eleventh.status, eleventh.body.error]).toEqual([429, "too_many_asks"]);
  expect(Number(eleventh.headers.get("Retry-After"))).toBeGreaterThan(3_000);
});

test("K14: clients are told when the terminal stops echoing, and the command line asks and waits", async () => {
  const { at } = await started(
    "echo up; read -r go; stty -echo; echo off; read -r p; stty echo; echo on; exec cat",
    "up",
  );
  const client = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  await client.hello();
  client.type("\n");
  expect(await client.message("echo")).toMatchObject({ on: false });
  const late = await connect(at.who, { sandbox: at.sandbox, session: "s" });
  expect(await late.message("echo")).toMatchObject({ on: false });
  client.type("\n");
  expect(await client.message("echo", 1)).toMatchObject({ on: true });
  const where = ["--sandbox", at.sandbox, "--session", "s"];
  const asked = await runCli(at.who, [...where, "--reason", "go \x1b[2J on?"], "", "ask");
  const { id, reason } = await client.message("ask");
  expect([asked.stdout, reason]).toEqual([`${id}\n`, "go  [2J on?"]);
  client.say({ type: "decline_ask", id });
  expect(await runCli(at.who, [...where, "--ask", String(id)], "", "wait")).toMatchObject({
    code: 0,
    stdout: "declined\n",
  });
});
