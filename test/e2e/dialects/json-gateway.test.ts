// The JSON gateway over the real system: who may come in, what closes the socket, and when the session ends.
import { describe, expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { isAliveIn } from "../support/clients/sandbox-processes.ts";
import { json, jsonOutput, shows } from "../support/generators/foreign-routes.ts";
import { fresh, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

describe("messages", () => {
  test("status counts everybody, clients of other kinds too", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const one = await json(who, sandbox);
    const other = await json(who, sandbox);
    const ours = await connect(who, { sandbox, session: "main" });
    await ours.hello();
    await one.message("status", 2);
    await ours.leave();
    other.socket.close(1000);
    await one.message("status", 4);
    expect(one.messages("status").map(({ status, clients }) => [status, clients])).toEqual([
      ["connected", 1],
      ["connected", 2],
      ["connected", 3],
      ["disconnected", 2],
      ["disconnected", 1],
    ]);
  });

  test("a resize, and a character whose bytes come apart", async () => {
    const client = await json(await person(), fresh("box"));
    client.say({ type: "resize", cols: 133, rows: 44 });
    client.say({ type: "input", data: "stty size\r" });
    await shows(client, "44 133");
    client.say({
      type: "input",
      data: 'clear; for b in 360 237 221 251; do printf "\\\\$b"; sleep 0.05; done; echo .\r',
    });
    // One character in four bytes, one at a time.
    await shows(client, "👩.");
    expect(jsonOutput(client)).not.toContain("\ufffd");
  });

  test("exit, and the next client gets a new shell", async () => {
    const who = await person();
    const sandbox = fresh("box");
    const client = await json(who, sandbox);
    client.say({ type: "input", data: "exit 5\r" });
    expect(await client.message("exit")).toEqual({ type: "exit", exitCode: 5 });
    expect((await client.end()).code).toBe(1000);
    const next = await json(who, sandbox);
    next.say({ type: "input", data: "echo new: $((7 * 7))\r" });
    await shows(next, "new: 49");
  });
});

describe("policy code 1008", () => {
  test.each([
    ["what is not JSON", "ls\r"],
    ["more than 8192 characters", JSON.stringify({ type: "input", data: "x".repeat(8193) })],
  ])("%s closes the offending socket, and no other", async (_what, text) => {
    const who = await person();
    const sandbox = fresh("box");
    const bystander = await json(who, sandbox);
    const client = await json(who, sandbox);
    client.socket.send(text);
    expect(await client.end()).toMatchObject({ code: 1008, reason: expect.stringMatching(/./) });
    bystander.say({ type: "input", data: "echo unharmed: $((6 * 7))\r" });
    await shows(bystander, "unharmed: 42");
  });
});

test("the process ends when all clients have disconnected", async () => {
  const who = await person();
  const sandbox = fresh("box");
  const [one, other] = [await json(who, sandbox), await json(who, sandbox)];
  one.say({ type: "input", data: "echo pid=$$.\r" });
  const shell = Number(/pid=(\d+)\./.exec(await shows(one, /pid=\d+\./))?.[1]);
  one.socket.terminate();
  await other.message("status", 1);
  expect(await isAliveIn(who, shell, sandbox)).toBe(true);
  other.socket.terminate();
  await until("the end of the shell", async () => !(await isAliveIn(who, shell, sandbox)));
});
