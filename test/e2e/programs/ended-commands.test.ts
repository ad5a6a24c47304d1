// Commands whose shell has gone (C3): they have ended, and their status is not made up.
import { expect, test } from "vitest";
import { Programs } from "../support/clients/programs.ts";
import { killBridge, person, startBridge } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

type Commands = { readonly commands: readonly { line?: string; to?: number; exit?: number; endedAt?: string }[] };

/** A bash that runs a command which does not end. */
async function sleeping(at: Programs, name: string): Promise<void> {
  await at.put(name, { cmd: "bash", tty: true });
  await at.wait(name, { until: { screen: "[$#] *$", flags: "m" } });
  await at.ask("POST", `/sessions/${name}/input`, { text: "echo be''gun; exec sleep 1000", enter: true });
  expect((await at.wait(name, { until: { text: "begun" }, from: 0 })).body.outcome).toBe("met");
}

const commandsOf = async (at: Programs, name: string) =>
  (await at.ask<Commands>("GET", `/sessions/${name}/commands`)).body.commands;

test("C3: a command that runs has no end; when its shell is killed it ends there, without a status", async () => {
  const at = new Programs(await person());
  await sleeping(at, "s");
  const [running] = await commandsOf(at, "s");
  expect([running?.to, running?.endedAt, running?.exit]).toEqual([undefined, undefined, undefined]);
  await at.ask("POST", "/sessions/s/signal", { signal: "SIGKILL" });
  expect((await at.wait("s", { until: { exit: true } })).body).toMatchObject({ exit: { signal: "SIGKILL" } });
  const { end } = (await at.read("s", { tail: 1 })).body;
  const [ended] = await until("the kept commands", async () => {
    const commands = await commandsOf(at, "s");
    return commands[0]?.endedAt !== undefined && commands;
  });
  expect([ended?.to, ended?.exit]).toEqual([end, undefined]);
});

test("C3: of a lost process the commands that ran have ended with what was received", async () => {
  const at = new Programs(await person());
  await sleeping(at, "s");
  expect(await commandsOf(at, "s")).toHaveLength(1);
  // Once nobody asks for a while, what is told of it later is fetched.
  await until("nobody to ask", async () => (await at.describe("s")).body.clients === 0);
  await killBridge();
  await startBridge();
  await until("the loss", async () => (await at.describe("s")).body.state === "lost");
  const { end } = (await at.read("s", { tail: 1 })).body;
  for (const { to, endedAt, exit } of await commandsOf(at, "s")) {
    expect([to, typeof endedAt, exit]).toEqual([end, "string", undefined]);
  }
});
